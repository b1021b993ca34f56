import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { IN_TOKYO } from '../../../integrations/nestjs/orders';
import { startScript } from '../../../support/processes/child-script';
import { installed } from '../../../support/processes/installed';

const SCRIPT = join(__dirname, 'fixtures', 'wrapped-by.js');

for (const [what, orders] of [
  ['@sentry/nestjs', 6],
  ['@SentryCron', 24],
  ['nestjs-cls', 24],
  ['nestjs-cls-5', 24],
] as const) {
  void test(`the day of a job is in the zone of its cron job, in each of ${orders} orders, with ${what}`, async () => {
    const script = startScript(SCRIPT, await installed('test/nest-decorators'), what);
    assert.deepEqual(await script.ended, { code: 0, signal: null });
    const outcomes = script.lines.map((line) => JSON.parse(line) as { readonly name: string });
    assert.equal(outcomes.length, orders);
    for (const { name, ...outcome } of outcomes) assert.deepEqual(outcome, IN_TOKYO, name);
  });
}
