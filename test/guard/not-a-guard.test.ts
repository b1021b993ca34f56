import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configureJobGuard, InvalidLockUseError, JobGuard } from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { Scheduled, scheduleLocked } from 'cronlatch/node-cron';

const guard = () => new JobGuard({ lockProvider: new InMemoryLockProvider(), logger: false });

void test('a promise of a guard is rejected, and the error suggests to await it', () => {
  const promise = Promise.resolve(guard()) as unknown as JobGuard;
  const refused = (error: unknown) =>
    error instanceof InvalidLockUseError && /await it: await createJobGuard/.test(error.message);
  assert.throws(() => configureJobGuard(promise), refused);
  assert.throws(
    () => scheduleLocked('* * * * *', { name: 'job', lockAtMostFor: '1m' }, () => {}, { guard: promise }),
    refused,
  );
});

void test('a closed guard may be replaced', async () => {
  const first = guard();
  configureJobGuard(first);
  const second = guard();
  assert.throws(() => configureJobGuard(second), InvalidLockUseError);
  await first.close();
  configureJobGuard(second);
  configureJobGuard(undefined);
  await second.close();
});

void test('node-cron’s spelling of the time zone is rejected, not ignored', () => {
  const options = { timezone: 'Europe/Paris' } as object;
  assert.throws(() => Scheduled('0 3 * * *', options), {
    message: "Unknown option 'timezone' for schedule '0 3 * * *'. Did you mean 'timeZone'?",
  });
});
