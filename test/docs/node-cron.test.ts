import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ScheduleDistributedOptions } from 'cronlatch/node-cron';
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
  lockAtMostFor: true,
  name: true,
};

void test('its tables of options have every option', () => {
  const page = readFileSync(PAGE, 'utf8');
  const shown = page.slice(page.indexOf('## Options')).matchAll(/^\| `(\w+)`/gm);
  assert.deepEqual(
    [...shown].map(([, option]) => option),
    Object.keys(OPTIONS),
  );
});
