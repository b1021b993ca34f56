import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { ACTS } from '#cronlatch/operations/acts/index';

const isVerb = (node: ts.Node): boolean => ts.isStringLiteralLike(node) && ACTS.has(node.text);
const isOfAct = (node: ts.Node): boolean => /(?:verb|\bact)\W*$/.test(node.getText());

/** Whether it compares the verb of an act with a text, or gives verbs something that the list of acts should have. */
function decidesByVerb(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node)) {
    const isComparison = /^[!=]==?$/.test(node.operatorToken.getText());
    const { left, right } = node;
    return isComparison && ((isVerb(left) && isOfAct(right)) || (isVerb(right) && isOfAct(left)));
  }
  if (ts.isCaseClause(node)) return isVerb(node.expression) && isOfAct(node.parent.parent.expression);
  // The names of methods that are gone: each error names what to use.
  if (!ts.isObjectLiteralExpression(node) || /^refuseGone\(/.test(node.parent.getText())) return false;
  const names = node.properties.map(({ name }) => name?.getText().replaceAll(/\W/g, '') ?? '');
  // Cases of tests have these two names.
  return names.filter((name) => ACTS.has(name) && name !== 'run' && name !== 'skip').length > 1;
}

function decisionsIn(file: string, text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (decidesByVerb(node)) found.push(node.getText());
    node.forEachChild(visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

void test('only the list of acts decides by their verbs', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  assert.ok(files.length > 50);
  for (const file of files.filter((name) => !name.startsWith('operations')))
    assert.deepEqual(decisionsIn(file, readFileSync(join('src', file), 'utf8')), [], file);
});

void test('a planted decision is found', () => {
  for (const planted of [
    `if (request.verb === 'run') serve();`,
    `if ('forget' !== values['act']) show();`,
    `switch (verb) { case 'pause': break; }`,
    `const DONE = { pause: 'Paused.', resume: 'Resumed.' };`,
  ])
    assert.equal(decisionsIn('planted.ts', planted).length, 1, planted);
  assert.deepEqual(decisionsIn('planted.ts', `if (own.kind === 'run') start();`), []);
});
