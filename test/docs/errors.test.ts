import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as cronlatch from 'cronlatch';
import ts from 'typescript';
import { tableOf } from '../support/page';
import { nodesBelow, sourceNodes, textsOf } from '../support/source-texts';

const PAGE = 'docs/errors.md';

/** The codes of the exported errors, by class. */
const CODES = new Map(
  Object.entries(cronlatch).flatMap(([name, value]) =>
    'code' in value && typeof value.code === 'string' ? [[name, value.code] as const] : [],
  ),
);

interface Message {
  /** The code, or `none`. */
  readonly section: string;
  readonly text: string;
}

/** The messages of all errors that the source creates, except those that only pass on another text. */
const thrown: Message[] = sourceNodes.filter(ts.isNewExpression).flatMap((created) => {
  const type = created.expression.getText();
  if (!/(?:Error|Exception)$/.test(type)) return [];
  const texts = textsOf(created.arguments?.[0]).filter((text) => text !== '…');
  return texts.map((text) => ({ section: CODES.get(type) ?? 'none', text }));
});

/** The rows of the page's tables of messages, by the code in the heading of their section. */
const listed: Message[] = readFileSync(PAGE, 'utf8')
  .split(/^## /m)
  .flatMap((part) => {
    const section = /^.*: `(\w+)`$/m.exec(part)?.[1] ?? 'none';
    const tables = part.split('\n\n').filter((block) => block.startsWith('| message'));
    const messages = tables.flatMap((table) => [...table.matchAll(/^\| `(.*?)` /gm)]);
    return messages.map(([, text = '']) => ({ section, text }));
  });

/** `…` on the page stands for any text. */
function isOf(row: Message, { section, text }: Message): boolean {
  const pattern = row.text.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return row.section === section && new RegExp(`^${pattern.join('.*')}$`, 's').test(text);
}

void test('each error that is thrown has a row under its code', () => {
  assert.ok(thrown.length > 130);
  assert.deepEqual(
    thrown.filter((message) => !listed.some((row) => isOf(row, message))),
    [],
  );
});

void test('each row is an error that is thrown', () => {
  assert.deepEqual(
    listed.filter((row) => !thrown.some((message) => isOf(row, message))),
    [],
  );
});

void test('each exported error has a heading with its code', () => {
  const page = readFileSync(PAGE, 'utf8');
  assert.equal(CODES.size, 13);
  for (const [name, code] of CODES) assert.ok(page.includes(`\n## ${name}: \`${code}\`\n`), name);
});

void test('each code of a finding has a row', () => {
  const alias = sourceNodes
    .filter(ts.isTypeAliasDeclaration)
    .find(({ name }) => name.text === 'SchemaFindingCode');
  const codes = nodesBelow(alias)
    .filter(ts.isStringLiteral)
    .map(({ text }) => `\`${text}\``);
  assert.ok(codes.length > 0);
  assert.deepEqual(
    tableOf(PAGE, 'code')
      .map(([code]) => code)
      .sort(),
    codes.sort(),
  );
});
