import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testOnEvery } from '../support/databases';

const EXAMPLE = join(__dirname, '../../examples/09-nestjs.js');

/** What `cron` logs on a busy machine. */
const BEHIND = /^\[Cron\] Missed execution deadline.*\n/gm;

testOnEvery(
  '09-nestjs: of two instances, one runs each tick, and one closes the day',
  async ({ environment }) => {
    const env = { ...process.env, DATABASE_URL: undefined, ...environment };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [EXAMPLE], {
      env,
      timeout: 60_000,
    });
    assert.equal(stderr.replace(BEHIND, ''), '');
    const lines = stdout.trimEnd().split('\n');
    const ticks = lines.filter((line) => line.startsWith('done, for the tick of '));
    assert.ok(ticks.length >= 1);
    assert.equal(new Set(ticks).size, ticks.length, 'no tick is run twice');
    // A tick at the very moment in which its job is created has no scheduled time.
    const unknown = lines.filter((line) => line === 'sending invoices').length - ticks.length;
    assert.ok(unknown === 0 || unknown === 1, `${unknown} runs without a scheduled time`);
    const rest = lines.filter((line) => line !== 'sending invoices' && !ticks.includes(line));
    assert.deepEqual(rest, [
      'closing the day, attempt 1',
      'by hand: closed',
      'by another instance: skipped',
      'closed',
    ]);
  },
);
