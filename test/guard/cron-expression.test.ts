import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firesWithinAMinute } from '#cronlatch/guard/jobs/cron-expression';

const FREQUENT = [
  ...[
    '* * * * * *',
    '*/5 * * * * *',
    '? * * * * *',
    '0,30 * * * * *',
    '10-20 0 3 * * *',
    '0-59/30 * * * * *',
  ],
  ...['15/20 * * * * *', '  */59   * * * * * ', '*/30 0 3 1 1 *'],
];
const RARE = [
  ...[
    '* * * * *',
    '*/5 * * * *',
    '0,30 3 * * *',
    '0 * * * * *',
    '30 */5 * * * *',
    '7-7 * * * * *',
    '5,5 * * * * *',
  ],
  ...['*/60 * * * * *', '0/60 * * * * *', '50/30 * * * * *', '0 0 3 * * MON', '@hourly', 'H * * * * *', ''],
];

void test('an expression whose seconds have more than one value fires more than once a minute', () => {
  for (const expression of FREQUENT) assert.equal(firesWithinAMinute(expression), true, expression);
});

void test('any other expression fires once a minute or less', () => {
  for (const expression of RARE) assert.equal(firesWithinAMinute(expression), false, expression);
});
