import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { scheduleWithCroner } from '../docs/other-schedulers/croner';
import { guardOfRuns } from '../support/benches/guard-of-runs';
import { turn } from '../support/benches/lock';
import { operations } from 'cronlatch/operations';

const STEP_MS = 60_000;

void test('a job that croner calls is watched, and made up when croner has stopped (S-15)', async () => {
  const of = guardOfRuns();
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: of.clock.wallMs() });
  const oncePer = { period: 'tick' } as const;
  const cron = scheduleWithCroner(of.guard, {
    ...{ expression: '*/10 * * * *', timeZone: 'UTC', run: () => Promise.resolve() },
    guarded: { name: 'job', lockAtMostFor: '1m', oncePer },
  });
  const live = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute += 1) {
      of.clock.advance(STEP_MS);
      mock.timers.tick(STEP_MS);
      for (let i = 0; i < 20; i += 1) await turn();
    }
  };
  const problems = async (): Promise<string[]> =>
    (await operations(of.guard).overview()).jobs.flatMap((each) => each.problems.map(({ kind }) => kind));
  await live(65);
  await of.guard.runOverdue();
  const runs = await of.guard.ledger.list({ job: 'job' });
  const tens = Math.floor(of.clock.wallMs() / 600_000);
  assert.deepEqual(
    runs.map(({ periodKey, state }) => [periodKey, state]),
    [0, 1, 2, 3, 4, 5].map((back) => [new Date((tens - back) * 600_000).toISOString(), 'completed']),
  );
  assert.deepEqual(await problems(), []);
  cron.stop();
  await live(20);
  assert.deepEqual(await problems(), ['late']);
  await of.guard.runOverdue();
  const [last] = await of.guard.ledger.list({ job: 'job', limit: 1 });
  assert.deepEqual(
    [last?.periodKey, last?.reason],
    [new Date((tens + 2) * 600_000).toISOString(), 'made-up'],
  );
  assert.deepEqual(await problems(), []);
  mock.timers.reset();
});
