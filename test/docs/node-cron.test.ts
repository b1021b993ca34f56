import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ScheduleDistributedOptions } from 'cronlatch/node-cron';
import type { Cancellation } from '#cronlatch/ledger/slots/slot';
import { tableOf } from '../support/checks/page';
import { testCodeOn } from '../support/checks/page-tests';

const PAGE = 'docs/node-cron.md';
const SOURCES = 'test/docs/node-cron';

testCodeOn(PAGE, SOURCES);

/** Every option; the compiler knows them all. */
const OPTIONS: { readonly [Option in keyof Required<ScheduleDistributedOptions>]: true } = {
  timeZone: true,
  missedExecutionTolerance: true,
  maxRandomDelay: true,
  guard: true,
  name: true,
  distributedLease: true,
  noOverlap: true,
};

void test('its tables of options have every option', () => {
  const page = readFileSync(PAGE, 'utf8');
  const shown = page.slice(page.indexOf('## Options')).matchAll(/^\| `(\w+)`/gm);
  assert.deepEqual(
    [...shown].map(([, option]) => option),
    Object.keys(OPTIONS),
  );
});

/** Why a tick that was won is not run; the compiler knows them all. */
const CANCELLED: { readonly [Reason in Cancellation['reason']]: true } = {
  unconfirmed: true,
  stopped: true,
  closing: true,
};

void test('its table of rows has every reason that the ledger writes for a tick', () => {
  const rows = tableOf(PAGE, 'row').map(([state = '', reason = '']) =>
    `${state} ${reason}`.replaceAll('`', ''),
  );
  assert.deepEqual(rows, [
    ...['running ', 'completed ', 'failed exhausted'],
    ...Object.keys(CANCELLED).map((reason) => `failed ${reason}`),
    'interrupted crashed',
  ]);
});
