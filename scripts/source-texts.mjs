/** What `src` contains, without the contract suites, whose errors are failed assertions. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const paths = readdirSync('src', { recursive: true })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('contracts'))
  .map((name) => join('src', name));
const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.Node20, types: [] };
const host = ts.createCompilerHost(options);
// The texts are in the source, and the types of packages take most of the time.
host.fileExists = (file) => !file.includes('node_modules') && ts.sys.fileExists(file);
const program = ts.createProgram(paths, options, host);
const checker = program.getTypeChecker();
export const sourceNodes = paths.flatMap((path) => nodesBelow(program.getSourceFile(path)));
const calls = sourceNodes.filter(ts.isCallExpression).map((call) => ({ call, name: nameIn(call).getText() }));

function nodesBelow(node) {
  const nodes = [node];
  node.forEachChild((child) => void nodes.push(...nodesBelow(child)));
  return nodes;
}

function nameIn(node) {
  const named = ts.isCallExpression(node) ? node.expression : node;
  return ts.isPropertyAccessExpression(named) ? named.name : named;
}

function symbolOf(node) {
  const symbol = checker.getSymbolAtLocation(nameIn(node));
  return symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/**
 * The texts that an expression can have, with `…` for each value. Follows constants, the functions that are called, and
 * the callers that pass a parameter.
 */
export function textsOf(expression) {
  return follow(expression, new Map()).map(({ text }) => text.replace(/…+/g, '…'));
}

/** @param callers the call by which each function is entered, so that all its parameters have the values of one caller */
function follow(node, callers) {
  const either = (nodes) => nodes.flatMap((each) => follow(each, callers));
  if (node === undefined) return [{ text: '…', callers }];
  if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
    return [{ text: node.text, callers }];
  if (ts.isTemplateExpression(node))
    return joined(
      [node.head, ...node.templateSpans.flatMap((span) => [span.expression, span.literal])],
      callers,
    );
  const operator = ts.isBinaryExpression(node) ? node.operatorToken.kind : undefined;
  if (operator === ts.SyntaxKind.PlusToken) return joined([node.left, node.right], callers);
  if (operator === ts.SyntaxKind.QuestionQuestionToken) return either([node.left, node.right]);
  if (ts.isParenthesizedExpression(node)) return follow(node.expression, callers);
  if (ts.isConditionalExpression(node)) return either([node.whenTrue, node.whenFalse]);
  if (ts.isCallExpression(node)) return resultsOf(node, callers);
  if (!ts.isIdentifier(node)) return follow(undefined, callers);
  return node.text === 'undefined' ? [] : valuesOf(symbolOf(node)?.valueDeclaration, callers);
}

function joined([first, ...rest], callers) {
  const texts = follow(first, callers);
  if (rest.length === 0) return texts;
  return texts.flatMap(({ text, callers }) =>
    joined(rest, callers).map((next) => ({ ...next, text: text + next.text })),
  );
}

/** What a function of this project returns, except the one that describes values. */
function resultsOf(call, callers) {
  const declaration = symbolOf(call)?.valueDeclaration;
  const isFollowed = declaration !== undefined && nameIn(call).getText() !== 'describeValue';
  const returned = isFollowed ? nodesBelow(declaration).filter(ts.isReturnStatement) : [];
  if (returned.length === 0) return follow(undefined, callers);
  const entered = new Map(callers).set(declaration, call);
  return returned.flatMap(({ expression }) => follow(expression, entered));
}

/** What a constant is, or what the callers pass for a parameter. */
function valuesOf(declaration, callers) {
  if (declaration && ts.isVariableDeclaration(declaration)) return follow(declaration.initializer, callers);
  const entries = declaration && ts.isParameter(declaration) ? callsOf(declaration.parent, callers) : [];
  if (entries.length === 0) return follow(undefined, callers);
  const { parent: entered, initializer } = declaration;
  const index = entered.parameters.indexOf(declaration);
  return entries.flatMap((call) =>
    follow(call.arguments[index] ?? initializer, new Map(callers).set(entered, call)),
  );
}

function callsOf(entered, callers) {
  if (callers.has(entered)) return [callers.get(entered)];
  const name = entered.name ?? (ts.isVariableDeclaration(entered.parent) ? entered.parent.name : undefined);
  const mayCall = calls.filter((each) => each.name === name?.getText()).map(({ call }) => call);
  return mayCall.filter((call) => symbolOf(call) === symbolOf(name));
}
