import assert from 'node:assert/strict';
import { mock, test, type TestContext } from 'node:test';
import type { Access } from 'cronlatch/dashboard';
import { testOperated } from '../cli/operated';
import { dailyJob, register } from '../cli/year-of-runs';
import { closing } from '../support/benches/closing';
import { guardOfRuns } from '../support/benches/guard-of-runs';
import { turn } from '../support/benches/lock';
import { statementLog } from '../support/databases/statement-log';
import type { ServerDatabase } from '../support/databases/types';
import { ANNE, ORIGIN, siteOf } from './site';

/** What a connection and its first statement need. */
const SET_UP = /^SELECT 1$|^\s*SELECT 0 AS table_number/;

testOperated(
  'an overview sends 5 statements, shares them for 5 s, and an act ends that',
  async (bench) => {
    await using log = closing(await statementLog('postgres', { url: bench.url } as ServerDatabase<unknown>));
    const options = { logger: false, pollInterval: false } as const;
    await using guard = closing(await bench.createJobGuard(log.url, options));
    const site = siteOf(guard);
    await register(guard, dailyJob('close-day'));
    await bench.runDaysAgo('close-day', 1);
    const now = mock.method(performance, 'now', () => 0);
    try {
      const countAt = async (ms: number): Promise<number> => {
        now.mock.mockImplementation(() => ms);
        log.statements();
        assert.equal((await site.get()).status, 200);
        return log.statements().filter((text) => !SET_UP.test(text)).length;
      };
      const counts = [await countAt(0), await countAt(4999), await countAt(5000), await countAt(5000)];
      assert.equal((await site.send('?job=close-day', 'pause')).status, 303);
      assert.deepEqual([...counts, await countAt(5000)], [5, 0, 5, 0, 5]);
    } finally {
      now.mock.restore();
    }
  },
  ['postgres'],
);

/** A page that follows its events, under mocked time. */
async function followed(t: TestContext) {
  let [nowMs, access]: [number, Access] = [0, ANNE];
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => nowMs);
  const { guard, runStore } = guardOfRuns();
  const reads = t.mock.method(runStore, 'latest');
  const { dashboard } = siteOf(guard, { access: () => access });
  const { body } = await dashboard(new Request(`${ORIGIN}/?events=`));
  assert.ok(body);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  return {
    ...{ guard, reader, reads: () => reads.mock.callCount() },
    next: async () => /^event: (\w+)$/m.exec((await reader.read()).value ?? 'event: end')?.[1],
    pass: async (ms: number): Promise<void> => {
      await turn();
      nowMs += ms;
      t.mock.timers.tick(ms);
    },
    answer: (level: Access['level']) => void (access = { level, actor: 'anne' }),
  };
}

void test('a page is sent at first and after each change, and else that it is the same', async (t) => {
  const { guard, next, pass } = await followed(t);
  const events = [await next()];
  await pass(5000);
  events.push(await next());
  await guard.lockManager().tryLock({ name: 'books', lockAtMostFor: '10m' });
  await pass(5000);
  events.push(await next());
  assert.deepEqual(events, ['page', 'same', 'page']);
});

void test('the events end when access is taken away', async (t) => {
  for (const level of ['none', 'read'] as const)
    await t.test(level, async (each) => {
      const { next, pass, answer } = await followed(each);
      const events = [await next()];
      answer(level);
      while (events.at(-1) !== 'end') {
        await pass(5000);
        events.push(await next());
      }
      assert.deepEqual(events, ['page', ...Array.from({ length: 5 }, () => 'same'), 'end']);
    });
});

void test('a page that is closed is read no more', async (t) => {
  const { reader, reads, next, pass } = await followed(t);
  await next();
  await pass(5000);
  await next();
  const before = reads();
  await reader.cancel();
  for (let times = 0; times < 3; times += 1) await pass(5000);
  await turn();
  assert.deepEqual([before, reads()], [2, 2]);
});
