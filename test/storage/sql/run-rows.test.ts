import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEvent, readId, readPeek, readRun } from '#cronlatch/storage/sql/ledger/run-rows';

const KEY = { id: 1, job_name: 'close-day', scope: '', period_key: '2026-11-20' };
const RUN = { ...KEY, state: 'completed', generation: 0, attempt: 1, created_at: 0, updated_at: 0 };
const NAME = `the run of job 'close-day' for 2026-11-20`;

const failure = (message: string) => ({ name: 'LockStorageError', message });

void test('an invalid value in a row is an error that names the run and the column', () => {
  assert.throws(
    () => readRun({ ...RUN, updated_at: null }),
    failure(`Could not read ${NAME}: column 'updated_at' has no value.`),
  );
  assert.throws(
    () => readRun({ ...RUN, fencing_token: '9007199254740993' }),
    failure(
      `Could not read ${NAME}: column 'fencing_token' has "9007199254740993", which is not a safe integer.`,
    ),
  );
  assert.throws(
    () => readEvent({ kind: 'failed' }, `the history of ${NAME}`),
    failure(`Could not read the history of ${NAME}: column 'at' has no value.`),
  );
  const request = { job: 'close-day', scope: '', periodKey: undefined, since: undefined };
  assert.throws(
    () => readPeek([{ member: 0, now_us: 1.5 }], request),
    failure(`Could not read the run ledger: column 'now_us' has 1.5, which is not a safe integer.`),
  );
});

void test('a missing id is an error that names the run', () => {
  assert.throws(() => readId({}, NAME), failure(`The database returned no id for ${NAME}.`));
});
