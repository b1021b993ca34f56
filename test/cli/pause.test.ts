import { declareLockJob } from '../support/jobs/lock-job';
import assert from 'node:assert/strict';
import type { JobGuard } from 'cronlatch';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import { closing } from '../support/benches/closing';
import { databaseOn, testOnEveryServer, type Administrator } from '../support/databases/fresh';
import { JavaShedLock } from '../support/databases/java-shedlock';
import { cronlatch, errorLines } from './cronlatch';
import { DAY_MS, testOperated } from './operated';
import { started } from './started';
import { dailyJob, dueJob, register, registerEarlier } from './year-of-runs';

const BY_ANNE = `--actor anne@ops1 --reason 'audit of the books' --yes`;
const JOB = { name: 'close-day', lockAtMostFor: '10m' } as const;
const DAILY = { ...JOB, oncePer: { period: 'day', timeZone: 'UTC' } } as const;
const TODAY = (): string => new Date().toISOString().slice(0, 10);

/** Runs the overdue runs of an instance that has just started, and returns the business dates that it ran. */
async function datesOfNewInstance(guard: JobGuard): Promise<string[]> {
  const dates: string[] = [];
  guard.wrap(DAILY, () => void dates.push(TODAY()));
  await guard.runOverdue();
  return dates;
}

testOnEveryServer(
  'neither a guard nor ShedLock for Java starts a paused job, and after resume both do',
  async (server) => {
    await using database = closing(await databaseOn(server));
    const { url } = database;
    const root: Administrator = database.root;
    await root.query(server === 'postgres' ? `SET TIME ZONE 'UTC'` : `SET time_zone = '+00:00'`);
    const call = async (...args: string[]): Promise<string> => {
      const { stdout, stderr, status } = await cronlatch(args, { env: { DATABASE_URL: url } });
      assert.deepEqual([status, stderr], [0, ''], args.join(' '));
      return stdout;
    };
    await call('init');
    const { createJobGuard } = server === 'postgres' ? pgDriver : mysqlDriver;
    await using guard = closing(await createJobGuard(url, { logger: false, pollInterval: false }));
    const java = new JavaShedLock(server, root, 'java-host');
    await register(guard, dailyJob('close-day'));
    const reason = ['--reason', 'audit of the books', '--yes'];

    await call('pause', 'close-day', ...reason);
    assert.equal(await java.lock('close-day', 60_000), false);
    assert.deepEqual(await guard.run(JOB, () => 1), { executed: false, reason: 'locked' });

    await call('resume', 'close-day', ...reason);
    assert.equal(await java.lock('close-day', 60_000), true);
    assert.deepEqual(await guard.run(JOB, () => 1), { executed: false, reason: 'locked' });
    await java.unlock('close-day');
    assert.deepEqual(await guard.run(JOB, () => 1), { executed: true, value: 1 });
  },
);

testOperated(
  'without --until, a pause lasts until resume, and doctor and status know it',
  async ({ guard, call, json }) => {
    await register(guard, dailyJob('close-day'));
    const paused = await call(`pause close-day ${BY_ANNE}`);
    assert.deepEqual([paused.status, paused.stderr], [0, '']);
    assert.match(
      paused.stdout,
      /^pause job close-day until you call resume, for 365 days at most: no instance starts it until then\nheld as hold\/anne@ops1\/audit of the books\/\S+Z\n$/,
    );
    const { lockUntil } = (await guard.locks.inspect('close-day')) ?? {};
    const days = (Number(lockUntil) - Date.now()) / DAY_MS;
    assert.ok(days > 364 && days <= 365, `${days}`);
    assert.equal((await call('status --check')).status, 0);
    assert.match(
      (await call('status')).stdout,
      /^‖ anne@ops1 holds lock 'close-day': audit of the books\. The hold ends in 364 d\. To end it now:\n {2}cronlatch resume close-day --reason TEXT$/m,
    );
    assert.match((await call('why close-day')).stdout, /\n {2}cronlatch resume close-day --reason TEXT\n/);

    const again = await call(`pause close-day ${BY_ANNE}`);
    assert.equal(again.status, 4);
    assert.match(errorLines(again)[0] ?? '', /^Lock 'close-day' is held by 'hold\/anne@ops1\//);

    const ended = await json(`resume close-day ${BY_ANNE}`);
    const { job, lock, skipped, actor } = ended;
    assert.deepEqual([job, lock, skipped, actor], ['close-day', 'close-day', [], 'anne@ops1']);
    const twice = await call(`resume close-day ${BY_ANNE}`);
    assert.equal(twice.status, 4);
    assert.deepEqual(errorLines(twice), ["There is no hold of lock 'close-day' to end: the lock is free."]);
  },
);

testOperated('a pause names the other jobs of the same lock', async ({ guard, call, json }) => {
  await register(
    guard,
    dailyJob('close-day', { lock: 'books' }),
    dailyJob('open-day', { lock: 'books' }),
    dailyJob('unrelated'),
    dailyJob('by-argument', { lock: 'books', kind: 'lock', hasNameFunction: true }),
  );
  const { stdout } = await call(`pause close-day --until 2h ${BY_ANNE}`);
  assert.match(stdout, /\nJob open-day has the same lock, so this pauses it, too\.\nheld as /);
  assert.equal((await guard.locks.inspect('books'))?.isHeld, true);
  await call(`resume open-day ${BY_ANNE}`);
  assert.equal((await guard.locks.inspect('books'))?.isHeld, false);
  const { job, lock, others } = await json(`pause open-day --until 2h ${BY_ANNE}`);
  assert.deepEqual([job, lock, others], ['open-day', 'books', ['close-day']]);
});

testOperated(
  'a job that has no single lock is refused, and so is a job that no instance has declared',
  async ({ guard, call, query }) => {
    const lockOf = (order: unknown): string => `order-${String(order)}`;
    declareLockJob(guard, { name: 'ship-order', nameOf: lockOf, lockAtMostFor: '1m' });
    declareLockJob(guard, JOB);
    await guard.runOverdue();
    for (const [job, line] of [
      ['ship-order', /^Job 'ship-order' cannot be paused: its lock names depend on its arguments\. Use its/],
      ['close-dya', /^There is no registered job 'close-dya'\. Did you mean 'close-day'\?$/],
    ] as const)
      for (const verb of ['pause', 'resume']) {
        const ended = await call(`${verb} ${job} ${BY_ANNE}`);
        assert.deepEqual([ended.status, ended.stdout], [2, '']);
        assert.match(errorLines(ended)[0] ?? '', line);
      }
    assert.equal(await guard.locks.inspect('ship-order'), undefined);
    // An older version declares the same, so that a deployment does not differ.
    const [row] = await query(`SELECT declared FROM cronlatch_job WHERE job_name = 'close-day'`);
    assert.doesNotMatch(JSON.stringify(row), /hasNameFunction/);
  },
);

testOperated('a run that has started goes on: the pause begins after it', async ({ guard, url }) => {
  await register(guard, dailyJob('close-day'));
  const pausing = await new Promise<ReturnType<typeof started>>((resolve) => {
    void guard.run(JOB, async () => {
      const args = ['pause', 'close-day', '--reason', 'audit', '--actor', 'anne', '--yes'];
      const call = started(args, { DATABASE_URL: url });
      await call.printed('waiting for');
      resolve(call);
    });
  });
  const { status, stdout, stderr } = await pausing.ended;
  assert.equal(status, 0);
  assert.match(
    stdout,
    /\n\S+ has the lock\. Its run goes on, and the hold begins after it\.\nheld as hold\/anne\//,
  );
  assert.match(stderr, /^cronlatch: waiting for \S+, which holds the lock\n$/);
  assert.deepEqual(await guard.run(JOB, () => 1), { executed: false, reason: 'locked' });
});

testOperated('resume --skip records the run of today as skipped', async (bench) => {
  const { guard, call, json } = bench;
  await register(guard, dailyJob('close-day'));
  await call(`pause close-day ${BY_ANNE}`);
  await registerEarlier(bench, dueJob('close-day', 0));
  const { skipped } = await json(`resume close-day --skip ${BY_ANNE}`);
  assert.deepEqual(skipped, [{ job: 'close-day', scope: '', periodKey: TODAY() }]);
  assert.deepEqual(await datesOfNewInstance(guard), []);
  assert.equal((await guard.ledger.last('close-day'))?.state, 'skipped');
});
