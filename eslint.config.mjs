import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist', '.build', '.servers', 'coverage', 'test/testing/fixtures'] },
  // Their packages are installed elsewhere, for their tests only.
  { ignores: ['test/adapters', 'test/docs/query-builders'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './test/tsconfig.json', './test/tsconfig.standard.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'max-lines-per-function': ['error', { max: 65, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      'no-restricted-syntax': [
        'error',
        {
          selector:
            ':matches(ObjectExpression, ArrayExpression) > SpreadElement > :matches(ObjectExpression, ArrayExpression)',
          message: 'Write the entries without a spread.',
        },
      ],
    },
  },
  // One function defines all cases of a promise.
  { files: ['src/contracts/**/*.ts'], rules: { 'max-lines-per-function': 'off' } },
);
