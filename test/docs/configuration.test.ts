import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import ts from 'typescript';
import { tableOf } from '../support/checks/page';

const PAGE = 'docs/configuration.md';

/** The names of the properties of an interface, inherited ones included. */
function propertiesOf(file: string, name: string): string[] {
  const program = ts.createProgram([file], { module: ts.ModuleKind.Node20, strict: true });
  const declared = program
    .getSourceFile(file)
    ?.statements.find((each) => ts.isInterfaceDeclaration(each) && each.name.text === name);
  assert.ok(declared, name);
  const properties = program.getTypeChecker().getTypeAtLocation(declared).getProperties();
  return properties.map((property) => property.name).sort();
}

/** The words of a text that are written as code. */
function codeIn(text = ''): string[] {
  return [...text.matchAll(/`([\w:]+)`/g)].map(([, word = '']) => word);
}

void test('the page lists every option of createJobGuard, and no other', () => {
  const listed = tableOf(PAGE, 'option').flatMap(([cell]) => codeIn(cell));
  assert.deepEqual(listed.sort(), propertiesOf('src/integrations/sql/create-guard.ts', 'PoolGuardOptions'));
});

void test('the page of node-cron lists every option of its tasks, and no other', () => {
  const file = 'src/integrations/node-cron/schedule-distributed.ts';
  const page = readFileSync('docs/node-cron.md', 'utf8');
  const shown = page.slice(page.indexOf('## Options')).matchAll(/^\| `(\w+)`/gm);
  const listed = [...shown].map(([, option = '']) => option).sort();
  assert.deepEqual(listed, propertiesOf(file, 'ScheduleDistributedOptions'));
});

void test('the page lists every event, and no other', () => {
  const [, list] = /^are the events:\n\n((?:.+\n)+)/m.exec(readFileSync(PAGE, 'utf8')) ?? [];
  assert.deepEqual(codeIn(list).sort(), propertiesOf('src/core/execution/events.ts', 'CronlatchEvents'));
});
