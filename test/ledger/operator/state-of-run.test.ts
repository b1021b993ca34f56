import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandOf } from '#cronlatch/ledger/operator/remedy';
import { firstLines, stateOfRun, timeText, type RunWords } from '#cronlatch/ledger/operator/state-of-run';
import type { Run } from 'cronlatch/provider';
import { after, NOW, runRow } from '../../support/jobs/run-row';

const T = timeText(NOW);
const RETRY = timeText(after(60_000));
const RUN = 'close-day 2026-11-20';

const textOf = (changes: Partial<Run>, words?: RunWords): string => {
  const run = runRow({ finishedAt: NOW, startedAt: NOW, ...changes });
  const { state, sentence, advice, remedy } = stateOfRun(run, words);
  return [state, sentence, advice, remedy && commandOf(remedy).join(' ')].filter(Boolean).join(' | ');
};

void test('each state of a run is a sentence with its remedy', () => {
  const error = 'Error: The disk is full.\n    at job (app.js:1:1)';
  assert.deepEqual(
    [
      textOf({ state: 'pending', nextAttemptAt: NOW }),
      textOf({ state: 'running' }),
      textOf({ state: 'running', lockId: 'here/job' }, { isLocked: false, lockId: 'here/job' }),
      textOf({ state: 'running', leaseUntil: NOW }, { isLocked: false, lockId: 'there/job' }),
      textOf({ state: 'running', leaseUntil: NOW }, { isLocked: false }),
      textOf({ state: 'completed' }),
      textOf({ state: 'failed', error }),
      textOf({ state: 'failed', error, nextAttemptAt: after(60_000) }),
      textOf({ state: 'failed', reason: 'fatal' }),
      textOf({ state: 'failed', reason: 'lease-ended' }),
      textOf({ state: 'interrupted' }),
      textOf({ state: 'skipped', reason: 'operator' }),
    ],
    [
      `pending | was due at ${T} | An instance starts it when it checks for overdue runs.`,
      `running | is recorded as running: attempt 1 started at ${T} on host/1`,
      `running | began at ${T} on host/1, but no process holds the lock | If its holder is gone, an instance takes it over when it checks for overdue runs.`,
      `running | began at ${T} on host/1, but no process holds the lock | It was claimed under another lock, or in another place of the locks. If its holder is gone, an instance takes it over when it checks for overdue runs after its longest lease has ended at ${T}. To run it again now: | rerun ${RUN} --force --reason TEXT`,
      `running | began at ${T} on host/1, but no process holds the lock | If its holder is gone, an instance takes it over when it checks for overdue runs, or after its longest lease has ended at ${T}: the place of the locks is unknown here.`,
      `completed | completed at ${T} | To run it again: | rerun ${RUN} --force --reason TEXT`,
      `failed | failed permanently at ${T}, after attempt 1: Error: The disk is full | To run it again: | rerun ${RUN} --reason TEXT`,
      `failed | failed at ${T}, and is due again at ${RETRY}: Error: The disk is full`,
      `failed | failed permanently at ${T}, after attempt 1: fatal | To run it again: | rerun ${RUN} --reason TEXT`,
      `failed | failed permanently at ${T}, after attempt 1: its lease had ended, and host/1 has not come back | To run it again: | rerun ${RUN} --reason TEXT`,
      `interrupted | was interrupted at ${T}: its lease had ended, and host/1 has not come back | It may still be running: look there first. Then record its outcome: completed, failed or pending. | resolve ${RUN} --as OUTCOME --reason TEXT`,
      `skipped | was skipped: operator | To run it anyway: | rerun ${RUN} --reason TEXT`,
    ],
  );
});

void test('a run with times in the future names the clock, and a retry that is due later can be rerun', () => {
  const early = after(-3_600_000);
  const textAt = (changes: Partial<Run>): string => {
    const run = runRow({ finishedAt: NOW, startedAt: NOW, updatedAt: NOW, ...changes });
    const { sentence, remedy } = stateOfRun(run, { now: early });
    return `${sentence} | ${remedy && commandOf(remedy).join(' ')}`;
  };
  const clock = `Its times lie ahead of the database's clock, which was ahead then, or has been set back since. If the period must run, wait until it has begun`;
  assert.equal(
    textAt({ state: 'completed' }),
    `completed at ${T}. ${clock} | rerun ${RUN} --force --reason TEXT`,
  );
  assert.equal(
    textAt({ state: 'failed', nextAttemptAt: after(60_000) }),
    `failed at ${T}, and is due again at ${RETRY}. ${clock} | rerun ${RUN} --reason TEXT`,
  );
  assert.doesNotMatch(textAt({ state: 'running' }), /clock/, 'its lock shows whether it still runs');
});

void test('a time that is unknown is a dash, and a long error is cut', () => {
  assert.deepEqual([timeText(undefined), timeText(new Date(NaN))], ['-', '-']);
  assert.equal(firstLines('x'.repeat(200))?.length, 120);
});

void test('an instant has the offset of its time zone', () => {
  const zones = ['UTC', 'Europe/London', 'Europe/Paris', 'America/St_Johns'];
  assert.deepEqual(
    zones.map((zone) => timeText(new Date('2026-11-24T00:00:07.9Z'), zone)),
    [
      '2026-11-24 00:00:07Z',
      '2026-11-24 00:00:07Z',
      '2026-11-24 01:00:07+01:00',
      '2026-11-23 20:30:07-03:30',
    ],
  );
});

void test('a command takes no operand for an option', () => {
  const run = runRow({ job: '--yes', scope: 'eu', state: 'failed', finishedAt: NOW });
  const { remedy } = stateOfRun(run);
  assert.deepEqual(remedy && commandOf(remedy), [
    ...['rerun', '--scope', 'eu', '--reason', 'TEXT', '--', '--yes', '2026-11-20'],
  ]);
});
