import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { OncePerOptions } from 'cronlatch';
import { parseJobPolicy } from '#cronlatch/ledger/policy/job-policy';
import { STATE_CHANGES, type Actor, type RunState } from '#cronlatch/ledger/run-state';
import { createTable } from '#cronlatch/storage/sql/tables/create-table';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { postgres } from '#cronlatch/storage/sql/dialects/postgres';
import { sqlite } from '#cronlatch/storage/sql/dialects/sqlite';
import { tablesOf } from '#cronlatch/storage/sql/schema/tables';
import { codeBlocksOf, plainSql, tableOf } from '../support/checks/page';

const PAGE = 'docs/once-per-business-day.md';
const SOURCES = 'test/docs/once-per-business-day';
/** It is the README's as well. */
const FIRST = join('test/readme', 'settlement.ts');
const BLOCKS = codeBlocksOf(PAGE);

void test('every piece of TypeScript on the page is a file that is compiled and run', () => {
  const code = BLOCKS.filter(({ language }) => language === 'ts');
  const [first, ...others] = code;
  assert.equal(first?.text, readFileSync(FIRST, 'utf8'));
  for (const { path = 'a block without a file', text } of others)
    assert.equal(text, readFileSync(join(SOURCES, path), 'utf8'), path);
  assert.deepEqual(others.map(({ path }) => path).sort(), readdirSync(SOURCES).sort());
});

void test('the tables that it shows are those of the migration', () => {
  const normal = (sql: string): string => plainSql(sql).replaceAll('IF NOT EXISTS ', '');
  const shown = BLOCKS.filter(({ language }) => language === 'sql').map(({ text }) => normal(text));
  const made = [mysql, postgres, sqlite].map((dialect) =>
    normal(
      tablesOf(['ledger'])
        .flatMap((table) => createTable(table, dialect))
        .join(' '),
    ),
  );
  assert.deepEqual(shown, made);
});

void test('its table of states has every state, and what an operator may do in it', () => {
  const operators: readonly Actor[] = ['rerun', 'resolve', 'skip'];
  const withForce: Actor = 'rerun with force';
  const mayBe = (state: RunState): string[] => {
    const changes = STATE_CHANGES.filter(({ from }) => from.includes(state));
    const may = (actor: Actor): boolean => changes.some(({ by }) => by.includes(actor));
    const acts: string[] = operators.filter(may);
    return may(withForce) && !may('rerun') ? [...acts, 'force', 'rerun'] : acts;
  };
  const rows = tableOf(PAGE, 'state').map(([state = '', , acts = '']) => [
    state.replaceAll('`', ''),
    [...acts.matchAll(/`(\w+)`/g)].map(([, act]) => act).sort(),
  ]);
  const states = ['pending', 'running', 'completed', 'failed', 'interrupted', 'skipped'] as const;
  assert.deepEqual(
    rows,
    states.map((state) => [state, mayBe(state).sort()]),
  );
});

/** Of every option; `undefined` where there is none, or it depends on what stands beside it. */
const DEFAULTS: { readonly [Option in keyof Required<OncePerOptions>]: OncePerOptions[Option] } = {
  name: undefined,
  timeZone: undefined,
  dayStart: '00:00',
  target: 'current',
  retry: { maxAttempts: 3, initialDelay: '1m', factor: 2, maxDelay: '1h' },
  onCrash: 'retry',
  startDeadline: undefined,
  calendar: undefined,
  catchUp: 'none',
  catchUpWindow: '7d',
  catchUpLimit: 31,
  scope: undefined,
  resume: undefined,
  maxSkew: '5m',
};

void test('its table of options has every option, and the defaults are those that are taken', () => {
  const rows = tableOf(PAGE, 'option').map(([option = '', value = '']) => [
    option.replaceAll('`', ''),
    value.replaceAll('`', ''),
  ]);
  assert.deepEqual(
    rows.map(([option]) => option),
    Object.keys(DEFAULTS),
  );
  for (const [option = '', shown] of rows) {
    const value = DEFAULTS[option as keyof OncePerOptions];
    if (value !== undefined) assert.equal(shown, inWords(value), option);
  }
  const job = { period: 'day', timeZone: 'Europe/Paris' } as const;
  const explicit = parseJobPolicy({ ...DEFAULTS, ...job }, 'close-day');
  const implied = parseJobPolicy(job, 'close-day');
  const { period, periodAt } = implied;
  assert.deepEqual({ ...explicit, period, periodAt }, implied);
  const start = { kind: period.kind, timeZone: period.timeZone, dayStart: '00:00', target: 'current' };
  assert.deepEqual(explicit.period, start);
});

function inWords(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? `'${value}'` : String(value);
  const entries = Object.entries(value as Record<string, unknown>);
  return `{ ${entries.map(([name, each]) => `${name}: ${inWords(each)}`).join(', ')} }`;
}
