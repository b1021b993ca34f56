/** The project's own rule for oxlint. */
const LITERALS = ['ArrayExpression', 'ObjectExpression'];

export default {
  meta: { name: 'cronlatch' },
  rules: {
    'no-spread-of-literal': {
      create: (context) => ({
        SpreadElement(node) {
          if (LITERALS.includes(node.argument.type) && LITERALS.includes(node.parent.type))
            context.report({ node, message: 'Write the entries without a spread.' });
        },
      }),
    },
  },
};
