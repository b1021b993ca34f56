import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { JobGuard } from 'cronlatch';
import { systemClock } from 'cronlatch/provider';
import type { DatabaseName } from '../support/databases/fresh';
import { urlOn } from '../support/servers/running';
import { testOn } from '../support/servers/test-on';
import { etcdEndpoint } from '../support/stores/etcd-place';
import { cronlatch, errorLines } from './cronlatch';
import { testOperated, type Operated } from './operated';
import { started } from './started';
import { dailyJob, dueJob, registerEarlier } from './year-of-runs';

const BY_ANNE = ['--actor', 'anne@ops1', '--reason', 'audit of the books', '--yes'];
const JOB = { name: 'close-day', lockAtMostFor: '10m' } as const;
const OUTSIDE = ['--app', 'test/cli/fixtures/outside.cjs'];

function testHold(
  name: string,
  body: (guard: JobGuard, env: Readonly<Record<string, string>>, bench: Operated) => Promise<void>,
  on: readonly DatabaseName[] = ['sqlite'],
): void {
  testOperated(name, (bench) => body(bench.guard, { DATABASE_URL: bench.url }, bench), on);
}

testHold(
  'hold keeps a job from starting until unhold, and instances see who and why',
  async (guard, env) => {
    const held = await cronlatch(['hold', 'close-day', '--until', '2h', ...BY_ANNE], { env });
    assert.deepEqual([held.status, held.stderr], [0, '']);
    const [change, warning, result] = held.stdout.split('\n');
    assert.match(
      change ?? '',
      /^hold lock close-day until \S+ \S+Z: no instance starts its jobs until then$/,
    );
    assert.equal(warning, 'No instance has taken this lock so far, so check its name.');
    assert.match(result ?? '', /^held as hold\/anne@ops1\/audit of the books\/\S+Z$/);

    const skipped = new Promise((resolve) => guard.once('lock:skipped', resolve));
    assert.deepEqual(await guard.run(JOB, () => 1), { executed: false, reason: 'locked' });
    assert.match(((await skipped) as { heldBy: string }).heldBy, /^hold\/anne@ops1\/audit of the books\//);

    const again = await cronlatch(['hold', 'close-day', '--until', '2h', ...BY_ANNE], { env });
    assert.equal(again.status, 4);
    assert.match(errorLines(again)[0] ?? '', /^Lock 'close-day' is held by 'hold\/anne@ops1\/audit of /);

    const ended = await cronlatch(['unhold', 'close-day', '--json', ...BY_ANNE], { env });
    const shown = JSON.parse(ended.stdout) as Record<string, unknown>;
    assert.deepEqual([shown['command'], shown['lock'], shown['actor']], ['unhold', 'close-day', 'anne@ops1']);
    assert.deepEqual(await guard.run(JOB, () => 1), { executed: true, value: 1 });
  },
  ['sqlite', 'postgres'],
);

testHold('a job that runs is not disturbed, and unhold does not end its lock', async (guard, env) => {
  await guard.run(JOB, async () => {
    const holder = (await guard.locks.inspect('close-day'))?.lockedBy ?? '';
    const [hold, unhold] = await Promise.all([
      cronlatch(['hold', 'close-day', '--until', '2h', ...BY_ANNE], { env }),
      cronlatch(['unhold', 'close-day', ...BY_ANNE], { env }),
    ]);
    assert.deepEqual([hold.status, hold.stdout, unhold.status, unhold.stdout], [4, '', 4, '']);
    assert.ok(errorLines(hold)[0]?.startsWith(`Lock 'close-day' is held by '${holder}' until `));
    assert.deepEqual(errorLines(unhold), [
      `There is no hold of lock 'close-day' to end: '${holder}' holds it.`,
    ]);
  });
  const unhold = await cronlatch(['unhold', 'close-day', ...BY_ANNE], { env });
  assert.equal(unhold.status, 4);
  assert.match(errorLines(unhold)[0] ?? '', /: the lock is free\.$/);
});

testHold('with --wait, hold takes the lock as soon as the job has ended', async (guard, env) => {
  const call = await new Promise<ReturnType<typeof started>>((resolve) => {
    void guard.run(JOB, async () => {
      const waiting = started(['hold', 'close-day', '--until', '2h', '--wait', ...BY_ANNE], env);
      await waiting.printed('waiting for');
      resolve(waiting);
    });
  });
  const { status, stdout, stderr } = await call.ended;
  assert.equal(status, 0);
  assert.match(stdout, /\nheld as hold\/anne@ops1\//);
  assert.match(stderr, /^cronlatch: waiting for \S+, which holds the lock\n$/);
  assert.deepEqual(await guard.run(JOB, () => 1), { executed: false, reason: 'locked' });
});

testHold('a wait that would last longer than the hold ends with 4', async (guard, env) => {
  await guard.run(JOB, async () => {
    const ended = await cronlatch(['hold', 'close-day', '--until', '1s', '--wait', ...BY_ANNE], { env });
    assert.equal(ended.status, 4);
    assert.match(errorLines(ended).at(-1) ?? '', /^Lock 'close-day' is held by /);
  });
});

testHold('a lease of another program that ends beyond all dates is shown', async (_guard, env, { query }) => {
  await query(`INSERT INTO shedlock VALUES ('close-day', ${2n ** 63n - 1n}, 0, 'java-1', 0)`);
  const ended = await cronlatch(['hold', 'close-day', '--until', '1h', ...BY_ANNE], { env });
  assert.equal(ended.status, 4);
  assert.match(errorLines(ended)[0] ?? '', /^Lock 'close-day' is held by 'java-1' until -\. /);
});

testHold('a signal ends the wait, and nothing is held', async (guard, env) => {
  await guard.run(JOB, async () => {
    const call = started(['hold', 'close-day', '--until', '2h', '--wait', ...BY_ANNE], env);
    await call.printed('waiting for');
    call.kill('SIGINT');
    await assert.rejects(call.ended, /SIGINT ended the call/);
  });
  assert.deepEqual(await guard.run(JOB, () => 1), { executed: true, value: 1 });
});

const PLACES = {
  redis: () => urlOn('redis'),
  etcd: etcdEndpoint,
};

for (const [server, urlOf] of Object.entries(PLACES))
  testOn(server, 'hold and unhold work with the guard of an application', async () => {
    const env = { LOCKS: server, LOCKS_URL: urlOf(), LOCKS_PREFIX: `hold-${randomUUID()}:` };
    const held = await cronlatch(['hold', 'close-day', '--until', '2h', ...OUTSIDE, ...BY_ANNE], { env });
    assert.deepEqual([held.status, held.stderr], [0, '']);
    const skipped = await cronlatch(
      ['exec', ...OUTSIDE, '--name', 'close-day', '--at-most', '1m', '-E', '9', 'true'],
      { env },
    );
    assert.equal(skipped.status, 9);
    assert.match(errorLines(skipped)[0] ?? '', /locked by hold\/anne@ops1\/audit of the books\//);
    const ended = await cronlatch(['unhold', 'close-day', ...OUTSIDE, ...BY_ANNE], { env });
    assert.deepEqual([ended.status, ended.stderr], [0, '']);
    const ran = await cronlatch(['exec', ...OUTSIDE, '--name', 'close-day', '--at-most', '1m', 'true'], {
      env,
    });
    assert.deepEqual([ran.status, ran.stderr], [0, '']);
  });

void test('row locks cannot be held, and the reason is named', async () => {
  const env = { LOCKS: 'row', LOCKS_URL: 'postgres://localhost/none' };
  const ended = await cronlatch(['hold', 'close-day', '--until', '2h', ...OUTSIDE, ...BY_ANNE], { env });
  assert.equal(ended.status, 2);
  assert.match(errorLines(ended)[0] ?? '', /Locks of ZooKeeper and row locks cannot outlive the process/);
});

const WRONG: readonly (readonly [args: readonly string[], line: RegExp])[] = [
  [['--until', 'tomorrow'], /^--until is "tomorrow": use an instant with its offset, such as /],
  [['--until', '2026-11-23T06:00'], /^--until is "2026-11-23T06:00": use an instant with its offset/],
  [['--until', '400d'], /^--until is "400d": it must lie between 0 and 365 days\.$/],
  [['--until', '2020-01-01T00:00Z'], /^--until is "2020-01-01T00:00Z", which has passed\.$/],
  [['--until', '9999-01-01T00:00Z'], /^--until is "9999-01-01T00:00Z", which is more than 365 days away\.$/],
  [['--until', '2h', '--actor', 'a'.repeat(199)], /actor and reason are \d+ characters too long/],
];

for (const [args, line] of WRONG)
  testHold(
    `hold ${args.join(' ').slice(0, 50)} is refused as wrong usage, in one line`,
    async (guard, env) => {
      const ended = await cronlatch(
        ['hold', 'close-day', '--reason', 'audit of the books', '--yes', ...args],
        { env },
      );
      assert.equal(ended.status, 2);
      assert.match(errorLines(ended).join('\n'), line);
      assert.equal(await guard.locks.inspect('close-day'), undefined);
    },
  );

testHold(
  'unhold --skip records what was due during the hold, and nothing runs after it',
  async (guard, env, bench) => {
    const DAY_MS = 86_400_000;
    const dayOf = (daysAgo: number): string =>
      new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
    const oncePer = { period: 'day', timeZone: 'UTC', catchUp: 'all', catchUpWindow: '9d' } as const;
    const at = new Date(Date.now() - 3 * DAY_MS);
    await guard.run({ ...JOB, oncePer, at }, () => 'done');
    const { declared } = dueJob('close-day', 1000);
    const schedules = [...dailyJob('close-day').declared.schedules, ...declared.schedules];
    await registerEarlier({ ...bench, guard }, dailyJob('close-day', { schedules }));
    // The hold began two days ago, by the clock of its host.
    const clock = { ...systemClock, wallMs: () => Date.now() - 2 * DAY_MS };
    const operator = await bench.createJobGuard(bench.url, { pollInterval: false, logger: false, clock });
    const until = new Date(clock.wallMs() + 3_600_000);
    await operator.locks.hold('close-day', { actor: 'anne', reason: 'audit', until });
    await operator.close();
    const ended = await cronlatch(['unhold', 'close-day', '--skip', ...BY_ANNE], { env });
    assert.deepEqual([ended.status, ended.stderr], [0, '']);
    const days = [dayOf(2), dayOf(1), dayOf(0)];
    assert.deepEqual(
      ended.stdout.split('\n').slice(1, -2),
      days.map((day) => `skip job close-day for ${day}`),
    );
    const runs = await guard.ledger.list({ job: 'close-day', states: ['skipped'], order: 'oldest-first' });
    assert.deepEqual(
      runs.map(({ periodKey }) => periodKey),
      days,
    );
    const result = await guard.run({ ...JOB, oncePer }, () => assert.fail('ran'));
    assert.deepEqual(result, { executed: false, reason: 'skipped' });
  },
);

testHold('unhold --skip refuses a lock whose periods are unknown, and keeps the hold', async (guard, env) => {
  const until = new Date(Date.now() + 3_600_000);
  await guard.locks.hold('close-day', { actor: 'anne', reason: 'audit', until });
  const ended = await cronlatch(['unhold', 'close-day', '--skip', ...BY_ANNE], { env });
  assert.equal(ended.status, 2);
  assert.match(
    errorLines(ended)[0] ?? '',
    /^Cannot skip the periods of lock 'close-day': no job with this lock/,
  );
  assert.equal((await guard.locks.inspect('close-day'))?.isHeld, true);
});
