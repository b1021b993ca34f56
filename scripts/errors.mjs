/**
 * npm run errors: adds new messages of the source to docs/errors.md, and removes those that are gone. A new row has cause
 * and remedy of its message, and a reworded message keeps its own. With `-- --check`: fails if a row is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';
import { sourceNodes, textsOf } from './source-texts.mjs';

const PAGE = 'docs/errors.md';
const lines = readFileSync(PAGE, 'utf8').split('\n');
const classes = sourceNodes.filter(ts.isClassDeclaration);
const codes = new Map(classes.flatMap(codeOf));
const parents = new Map(classes.map(({ name, heritageClauses }) => [name?.text, parentIn(heritageClauses)]));
const rows = rowsOfPage();
const created = sourceNodes.filter(ts.isNewExpression).flatMap(messagesOf);
const thrown = [...new Map(created.map((each) => [`${each.section} ${each.text}`, each])).values()];
const unlisted = thrown.filter(({ row }) => row === undefined);
const missing = unlisted.filter((each) => !unlisted.some((other) => other !== each && isOf(other, each)));
const superfluous = rows.filter((row) => !thrown.some((message) => isOf(row, message)));
const headings = [...codes].map(([name, code]) => `## ${name}: \`${code}\``);
const absent = headings.filter((each) => !lines.includes(each)).map((each) => `add "${each}"`);
const problems = [...absent, ...findingProblems()];

if (process.argv.includes('--check')) {
  problems.push(...missing.map(({ section, text }) => `"${text}" of ${section} has no row: npm run errors`));
  problems.push(...superfluous.map(({ text }) => `nothing throws "${text}": npm run errors`));
} else {
  const options = { ...(await resolveConfig(PAGE)), filepath: PAGE };
  writeFileSync(PAGE, await format(changedLines().join('\n'), options));
  console.log(`errors: ${missing.length} messages added, ${superfluous.length} removed`);
}
for (const problem of problems) console.error(`errors: ${PAGE}: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;

/** The name and the code of an error's class. */
function codeOf({ name, members }) {
  const code = members.find((member) => member.name?.getText() === 'code')?.initializer;
  return code !== undefined && ts.isStringLiteral(code) ? [[name.text, code.text]] : [];
}

function parentIn(clauses = []) {
  const extended = clauses.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword);
  return extended?.types[0].expression.getText();
}

/** That of its nearest ancestor with a code. */
function sectionOf(type) {
  return codes.get(type) ?? (parents.has(type) ? sectionOf(parents.get(type)) : 'none');
}

/** The rows that begin with a message, unlike those with a code, and the code in the heading of their section. */
function rowsOfPage() {
  let section;
  return lines.flatMap((line, index) => {
    if (line.startsWith('## ')) section = /: `(\w+)`$/.exec(line)?.[1] ?? 'none';
    const [, text] = /^\| `([^`]* [^`]*)` /.exec(line) ?? [];
    return text === undefined ? [] : [{ section, text, index }];
  });
}

/** The messages of an error with their rows, except those that only pass on another text. */
function messagesOf(error) {
  const type = error.expression.getText();
  const ofError = { section: sectionOf(type), file: error.getSourceFile() };
  const texts = /(?:Error|Exception)$/.test(type) ? textsOf(error.arguments?.[0]) : [];
  const escaped = texts.filter((text) => text !== '…').map((text) => text.replaceAll('|', '\\|'));
  const messages = escaped.map((text) => ({ ...ofError, text }));
  return messages.map((message) => ({ ...message, row: rows.find((row) => isOf(row, message)) }));
}

/** `…` on the page stands for any text. */
function isOf(row, { section, text }) {
  const pattern = row.text.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return row.section === section && new RegExp(`^${pattern.join('.*')}$`, 's').test(text);
}

function findingProblems() {
  const isCode = ({ parent }) => parent.parent.parent?.name?.text === 'SchemaFindingCode';
  const known = sourceNodes.flatMap((node) => (ts.isStringLiteral(node) && isCode(node) ? node.text : []));
  const body = lines.slice(lines.findIndex((line) => line.startsWith('| code ')) + 2);
  const listed = body.slice(0, body.indexOf('')).map((line) => line.split('`')[1]);
  const isAlone = (code) => known.includes(code) !== listed.includes(code);
  return [...known, ...listed].filter(isAlone).map((code) => `finding ${code} is not in source and page`);
}

function changedLines() {
  const changed = lines.map((line) => [line]);
  for (const { index } of superfluous) changed[index] = [];
  for (const message of missing) {
    const { section, text } = message;
    const beginning = text.split(' ', 3).join(' ');
    const reworded = superfluous.find((row) => row.section === section && row.text.startsWith(beginning));
    const index = reworded?.index ?? indexFor(message);
    changed[index].push(reworded ? lines[index].replace(reworded.text, () => text) : newRow(text));
  }
  return changed.flat();
}

/** A message is mostly `<fact>: <remedy>`, or a sentence for each. */
function newRow(text) {
  const [, cause = '', remedy = ''] = /^(.+?)(?:: |\. )(.+?)\.?$/s.exec(text) ?? [];
  return `| \`${text}\` | ${cause} | ${remedy} |`;
}

/** After the row of the nearest message of its section, in its own file if possible, and rather an earlier one. */
function indexFor(message) {
  const at = thrown.indexOf(message);
  const others = [...thrown.slice(0, at).reverse(), ...thrown.slice(at)];
  const near = others.filter(({ row }) => row?.section === message.section);
  const found = near.find(({ file }) => file === message.file) ?? near[0];
  if (found === undefined) throw new Error(`${PAGE} needs a table of messages for ${message.section}.`);
  return found.row.index;
}
