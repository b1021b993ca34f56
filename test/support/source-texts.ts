import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** Functions whose results stand for values in a message. */
const VALUES = ['describeValue'];

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('contracts'))
  .map((file) => join('src', file));
const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.Node20, types: [] };
const program = ts.createProgram(files, options);
const checker = program.getTypeChecker();
/** Every node of the source, except the contract suites, whose errors are failed assertions. */
export const sourceNodes = files.flatMap((file) => nodesBelow(program.getSourceFile(file)));
const calls = sourceNodes.filter(ts.isCallExpression);

export function nodesBelow(node: ts.Node | undefined): ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (child: ts.Node): void => {
    nodes.push(child);
    child.forEachChild(visit);
  };
  if (node !== undefined) visit(node);
  return nodes;
}

function nameIn(expression: ts.Node): ts.Node {
  return ts.isPropertyAccessExpression(expression) ? expression.name : expression;
}

function symbolOf(expression: ts.Node): ts.Symbol | undefined {
  const symbol = checker.getSymbolAtLocation(nameIn(expression));
  return symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** The call by which each function is entered, so that all its parameters have the values of one caller. */
type Callers = ReadonlyMap<ts.Node, ts.CallExpression>;
interface Text {
  readonly text: string;
  readonly callers: Callers;
}

/**
 * The texts that an expression can have, with `…` for each value. Follows constants, the functions that are called, and
 * the callers that pass a parameter.
 */
export function textsOf(expression: ts.Node | undefined): string[] {
  return follow(expression, new Map()).map(({ text }) => text.replace(/…+/g, '…'));
}

function follow(node: ts.Node | undefined, callers: Callers): Text[] {
  if (node === undefined) return [{ text: '…', callers }];
  if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
    return [{ text: node.text, callers }];
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.flatMap(({ expression, literal }) => [expression, literal]);
    return joined([node.head, ...spans], callers);
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken)
    return joined([node.left, node.right], callers);
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken)
    return [node.left, node.right].flatMap((side) => follow(side, callers));
  if (ts.isParenthesizedExpression(node)) return follow(node.expression, callers);
  if (ts.isConditionalExpression(node))
    return [node.whenTrue, node.whenFalse].flatMap((branch) => follow(branch, callers));
  if (ts.isCallExpression(node)) return resultsOf(node, callers);
  if (!ts.isIdentifier(node)) return follow(undefined, callers);
  return node.text === 'undefined' ? [] : valuesOf(symbolOf(node)?.valueDeclaration, callers);
}

function joined(parts: readonly ts.Node[], callers: Callers): Text[] {
  const append = (texts: Text[], part: ts.Node): Text[] =>
    texts.flatMap(({ text, callers }) =>
      follow(part, callers).map((next) => ({ ...next, text: text + next.text })),
    );
  return parts.reduce(append, [{ text: '', callers }]);
}

/** What a function of this project returns. */
function resultsOf(call: ts.CallExpression, callers: Callers): Text[] {
  const declaration = symbolOf(call.expression)?.valueDeclaration;
  const isFollowed = declaration !== undefined && !VALUES.includes(nameIn(call.expression).getText());
  const returned = isFollowed ? nodesBelow(declaration).filter(ts.isReturnStatement) : [];
  if (returned.length === 0) return follow(undefined, callers);
  const entered = new Map(callers).set(declaration as ts.Node, call);
  return returned.flatMap(({ expression }) => follow(expression, entered));
}

/** What a constant is, or what the callers pass for a parameter. */
function valuesOf(declaration: ts.Declaration | undefined, callers: Callers): Text[] {
  if (declaration !== undefined && ts.isVariableDeclaration(declaration))
    return follow(declaration.initializer, callers);
  if (declaration === undefined || !ts.isParameter(declaration)) return follow(undefined, callers);
  const { parent: entered, initializer } = declaration;
  const entries = callersOf(entered, callers);
  if (entries.length === 0) return follow(undefined, callers);
  const index = entered.parameters.indexOf(declaration);
  return entries.flatMap((call) =>
    follow(call.arguments[index] ?? initializer, new Map(callers).set(entered, call)),
  );
}

function callersOf(entered: ts.SignatureDeclaration, callers: Callers): ts.CallExpression[] {
  const caller = callers.get(entered);
  const name = entered.name ?? (ts.isVariableDeclaration(entered.parent) ? entered.parent.name : undefined);
  if (caller !== undefined) return [caller];
  if (name === undefined) return [];
  const mayCall = calls.filter(({ expression }) => nameIn(expression).getText() === name.getText());
  return mayCall.filter(({ expression }) => symbolOf(expression) === symbolOf(name));
}
