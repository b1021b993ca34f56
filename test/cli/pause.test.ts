import { declareLockJob } from '../support/jobs/lock-job';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import * as mysqlDriver from 'cronlatch/mysql2';
import { operations } from 'cronlatch/operations';
import * as pgDriver from 'cronlatch/pg';
import { systemClock } from 'cronlatch/provider';
import { closing } from '../support/benches/closing';
import { nextEvent } from '../support/benches/guard';
import { databaseOn, testOnEveryServer, type Administrator } from '../support/databases/fresh';
import { JavaShedLock } from '../support/databases/java-shedlock';
import { urlOn } from '../support/servers/running';
import { testOn } from '../support/servers/test-on';
import { etcdEndpoint } from '../support/stores/etcd-place';
import { cronlatch, errorLines } from './cronlatch';
import { DAY_MS, testOperated, wordsOf } from './operated';
import { started } from './started';
import { dailyJob, dueJob, register, registerEarlier } from './year-of-runs';

const BY_ANNE = `--actor anne@ops1 --reason 'audit of the books' --yes`;
const JOB = { name: 'close-day', lockAtMostFor: '10m' } as const;
const DAILY = { ...JOB, oncePer: { period: 'day', timeZone: 'UTC' } } as const;
const OUTSIDE = '--app test/cli/fixtures/outside.cjs';

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
  async ({ guard, call, json, prints, refused }) => {
    await register(guard, dailyJob('close-day'));
    const paused = await call(`pause close-day ${BY_ANNE}`);
    assert.deepEqual([paused.status, paused.stderr], [0, '']);
    assert.match(
      paused.stdout,
      /^pause job close-day until you resume it, for 365 days at most: no instance starts it until then\nPaused: no instance starts the job\.\n$/,
    );
    const { lockUntil } = (await guard.locks.inspect('close-day')) ?? {};
    const days = (Number(lockUntil) - Date.now()) / DAY_MS;
    assert.ok(days > 364 && days <= 365, `${days}`);
    assert.equal((await call('status --check')).status, 0);
    await prints(
      'status',
      /^‖ anne@ops1 has paused lock 'close-day': audit of the books\. The pause ends in 364 d\. To end it now:\n {2}cronlatch resume close-day --reason TEXT$/m,
    );
    await prints('why close-day', /\n {2}cronlatch resume close-day --reason TEXT\n/);

    const again =
      /^Lock 'close-day' is paused already, by anne@ops1 until .+: audit of the books\. Resume it first\.$/;
    await refused(`pause close-day ${BY_ANNE}`, 4, again);

    const ended = await json(`resume close-day ${BY_ANNE}`);
    const { job, lock, skipped, actor } = ended;
    assert.deepEqual([job, lock, skipped, actor], ['close-day', 'close-day', [], 'anne@ops1']);
    await refused(`resume close-day ${BY_ANNE}`, 4, "Lock 'close-day' is not paused: it is free.");
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
  assert.match(stdout, /\nThese jobs have the same lock, so they are paused, too: open-day\nPaused: /);
  assert.equal((await guard.locks.inspect('books'))?.isHeld, true);
  await call(`resume open-day ${BY_ANNE}`);
  assert.equal((await guard.locks.inspect('books'))?.isHeld, false);
  const { job, lock, others } = await json(`pause open-day --until 2h ${BY_ANNE}`);
  assert.deepEqual([job, lock, others], ['open-day', 'books', ['close-day']]);
});

testOperated(
  'a job that has no single lock is refused, and so is a job that no instance has declared',
  async ({ guard, query, refused }) => {
    const lockOf = (order: unknown): string => `order-${String(order)}`;
    declareLockJob(guard, { name: 'ship-order', nameOf: lockOf, lockAtMostFor: '1m' });
    declareLockJob(guard, JOB);
    await guard.runOverdue();
    for (const [job, line] of [
      ['ship-order', /^Job 'ship-order' cannot be paused: its lock names depend on its arguments\. Use its/],
      ['close-dya', /^There is no registered job 'close-dya'\. Did you mean 'close-day'\?$/],
    ] as const)
      for (const verb of ['pause', 'resume']) await refused(`${verb} ${job} ${BY_ANNE}`, 2, line);
    assert.equal(await guard.locks.inspect('ship-order'), undefined);
    // An older version declares the same, so that a deployment does not differ.
    const [row] = await query(`SELECT declared FROM cronlatch_job WHERE job_name = 'close-day'`);
    assert.doesNotMatch(JSON.stringify(row), /hasNameFunction/);
  },
);

testOperated('a run that has started goes on: the pause begins after it', async ({ guard, url, refused }) => {
  await register(guard, dailyJob('close-day'));
  const pausing = await new Promise<ReturnType<typeof started>>((resolve) => {
    void guard.run(JOB, async () => {
      const waiting = started(wordsOf(`pause close-day ${BY_ANNE}`), { DATABASE_URL: url });
      await waiting.printed('waiting for');
      await refused(`resume close-day ${BY_ANNE}`, 4, /^Lock 'close-day' is not paused: '.+' holds it\.$/);
      resolve(waiting);
    });
  });
  const { status, stdout, stderr } = await pausing.ended;
  assert.equal(status, 0);
  assert.match(
    stdout,
    /\n\S+ has the lock\. Its run goes on, and the pause begins after it\.\nPaused: no instance starts the job\.\n$/,
  );
  assert.match(stderr, /^cronlatch: waiting for \S+, which holds the lock\n$/);
  assert.deepEqual(await guard.run(JOB, () => 1), { executed: false, reason: 'locked' });
});

testOperated('a wait that would last longer than the pause ends with 4', async ({ guard, call, query }) => {
  const refusal = async (): Promise<string> => {
    const ended = await call(`pause --lock close-day --until 1s ${BY_ANNE}`);
    assert.equal(ended.status, 4);
    return errorLines(ended).at(-1) ?? '';
  };
  await guard.run(JOB, async () =>
    assert.match(await refusal(), /^Lock 'close-day' is held by '.+' until \d/),
  );
  // A lease of another program can end beyond all dates.
  await query(
    `UPDATE shedlock SET lock_until = ${2n ** 63n - 1n}, locked_by = 'java-1' WHERE name = 'close-day'`,
  );
  assert.match(await refusal(), /^Lock 'close-day' is held by 'java-1' until -\. /);
});

testOperated('a signal ends the wait, and nothing is paused', async ({ guard, url }) => {
  await guard.run(JOB, async () => {
    const waiting = started(wordsOf(`pause --lock close-day ${BY_ANNE}`), { DATABASE_URL: url });
    await waiting.printed('waiting for');
    waiting.kill('SIGINT');
    await assert.rejects(waiting.ended, /SIGINT ended the call/);
  });
  assert.deepEqual(await guard.run(JOB, () => 1), { executed: true, value: 1 });
});

testOperated(
  'a lock is paused by its name until it is resumed, and instances see who and why',
  async ({ guard, call, json }) => {
    const paused = await call(`pause --lock close-day --until 2h ${BY_ANNE}`);
    assert.deepEqual([paused.status, paused.stderr], [0, '']);
    const [change, warning, result] = paused.stdout.split('\n');
    assert.match(
      change ?? '',
      /^pause the jobs of lock close-day until \S+ \S+Z: no instance starts them until then$/,
    );
    assert.equal(warning, 'No instance has taken this lock so far, so check its name.');
    assert.equal(result, 'Paused: no instance starts the job.');

    const skipped = nextEvent(guard, 'lock:skipped');
    assert.deepEqual(await guard.run(JOB, () => 1), { executed: false, reason: 'locked' });
    assert.match((await skipped).heldBy ?? '', /^hold\/anne@ops1\/audit of the books\//);

    const shown = await json(`resume --lock close-day ${BY_ANNE}`);
    assert.deepEqual([shown.command, shown['lock'], shown['actor']], ['resume', 'close-day', 'anne@ops1']);
    assert.deepEqual(await guard.run(JOB, () => 1), { executed: true, value: 1 });
  },
  ['sqlite', 'postgres'],
);

for (const [server, urlOf] of Object.entries({ redis: () => urlOn('redis'), etcd: etcdEndpoint }))
  testOn(server, 'pause and resume work with the guard of an application', async () => {
    const env = { LOCKS: server, LOCKS_URL: urlOf(), LOCKS_PREFIX: `pause-${randomUUID()}:` };
    const call = (args: string) => cronlatch(wordsOf(args), { env });
    const exec = `exec ${OUTSIDE} --name close-day --at-most 1m -E 9 true`;
    const skipped = /locked by hold\/anne@ops1\/audit of the books\//;
    for (const [args, status, output] of [
      [`pause --lock close-day ${OUTSIDE} ${BY_ANNE}`, 0, /^$/],
      [exec, 9, skipped],
      [`resume --lock close-day ${OUTSIDE} ${BY_ANNE}`, 0, /^$/],
      [exec, 0, /^$/],
    ] as const) {
      const ended = await call(args);
      assert.equal(ended.status, status, args);
      assert.match(ended.stderr, output, args);
    }
  });

void test('row locks cannot be paused, and the reason is named', async () => {
  const env = { LOCKS: 'row', LOCKS_URL: 'postgres://localhost/none' };
  const ended = await cronlatch(wordsOf(`pause --lock close-day ${OUTSIDE} ${BY_ANNE}`), { env });
  assert.equal(ended.status, 2);
  assert.match(errorLines(ended)[0] ?? '', /Locks of ZooKeeper and row locks cannot outlive the process/);
});

testOperated(
  'resume --skip records what was due during the pause, and nothing runs after it',
  async (bench) => {
    const { guard, call, json } = bench;
    const dayOf = (daysAgo: number): string =>
      new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
    const oncePer = { ...DAILY.oncePer, catchUp: 'all', catchUpWindow: '9d' } as const;
    const at = new Date(Date.now() - 3 * DAY_MS);
    await guard.run({ ...JOB, oncePer, at }, () => 'done');
    const { declared } = dueJob('close-day', 1000);
    const schedules = [...dailyJob('close-day').declared.schedules, ...declared.schedules];
    await registerEarlier(bench, dailyJob('close-day', { schedules }));
    // The pause began two days ago, by the clock of its host.
    const clock = { ...systemClock, wallMs: () => Date.now() - 2 * DAY_MS };
    const operator = await bench.createJobGuard(bench.url, { pollInterval: false, logger: false, clock });
    await operations(operator).pause({ lock: 'close-day' }, { actor: 'anne', reason: 'audit', until: '1h' });
    await operator.close();
    const ended = await call(`resume close-day --skip ${BY_ANNE}`);
    assert.deepEqual([ended.status, ended.stderr], [0, '']);
    const days = [dayOf(2), dayOf(1), dayOf(0)];
    assert.deepEqual(ended.stdout.split('\n').slice(1), [
      ...days.map((day) => `skip job close-day for ${day}`),
      ...['Resumed: overdue runs start at the next check.', ''],
    ]);
    const runs = await guard.ledger.list({ job: 'close-day', states: ['skipped'], order: 'oldest-first' });
    assert.deepEqual(
      runs.map(({ periodKey }) => periodKey),
      days,
    );
    const result = await guard.run({ ...JOB, oncePer }, () => assert.fail('ran'));
    assert.deepEqual(result, { executed: false, reason: 'skipped' });
    await call(`pause close-day ${BY_ANNE}`);
    await registerEarlier(bench, dueJob('bill', 0, { lock: 'close-day' }));
    const { skipped } = await json(`resume close-day --skip ${BY_ANNE}`);
    assert.deepEqual(skipped, [{ job: 'bill', scope: '', periodKey: dayOf(0) }]);
    assert.equal((await guard.ledger.last('bill'))?.state, 'skipped');
  },
);

testOperated(
  'resume --skip refuses a lock whose periods are unknown, and keeps the pause',
  async ({ guard, call, refused }) => {
    await call(`pause --lock close-day ${BY_ANNE}`);
    const unknown = /^Cannot skip the periods of lock 'close-day': no job with this lock/;
    await refused(`resume --lock close-day --skip ${BY_ANNE}`, 2, unknown);
    assert.equal((await guard.locks.inspect('close-day'))?.isHeld, true);
  },
);
