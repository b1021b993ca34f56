import assert from 'node:assert/strict';
import { DAY_MS, testOperated } from './operated';
import { dailyJob, ledgerOf, register } from './year-of-runs';

const LIMITS = { timeoutMs: 5000 };
const HOUR_MS = 3_600_000;

testOperated(
  'status shows the last run, the next tick and the problems of each job, and --check ends with 5',
  async ({ guard, call, json, runDaysAgo }) => {
    const [past, next] = [new Date(Date.now() - HOUR_MS), new Date(Date.now() + 30 * HOUR_MS)];
    await register(
      guard,
      { ...dailyJob('fine'), nextScheduledAt: next },
      { ...dailyJob('late'), nextScheduledAt: past },
      dailyJob('gap'),
      dailyJob('week-days', { schedules: [{ expression: '0 3 * * 1-5' }] }),
      dailyJob('broken'),
    );
    await runDaysAgo('fine', 0);
    const [newest] = [await runDaysAgo('gap', 4), await runDaysAgo('week-days', 4)];
    const failed = await runDaysAgo('broken', 0, new Error('no disk'));

    const shown = await call('status');
    assert.deepEqual([shown.status, shown.stderr], [0, '']);
    const [head = '', ...lines] = shown.stdout.split('\n');
    assert.match(head, /^job +last run +state +started +next tick +problem$/);
    assert.match(lines.find((line) => line.startsWith('fine ')) ?? '', /completed +\d+ s ago +in 1 d +-$/);
    assert.match(lines.find((line) => line.startsWith('late ')) ?? '', /- +- +- +1 h ago +late$/);
    assert.match(lines.find((line) => line.startsWith('gap ')) ?? '', / missed$/);
    assert.match(lines.find((line) => line.startsWith('week-days ')) ?? '', / -$/);

    const checked = await call('status --check');
    assert.equal(checked.status, 5);
    const first = new Date(Date.parse(newest) + DAY_MS).toISOString().slice(0, 10);
    assert.deepEqual(checked.stdout.replace(/\S+ \d\d:\S+Z/g, 'T').split('\n'), [
      `broken ${failed} failed permanently at T, after attempt 1: exhausted. To run it again: cronlatch rerun broken ${failed} --reason TEXT`,
      `gap has missed ${first} and 2 more`,
      'late is late: no instance has answered its tick of T',
      '',
    ]);

    const { hasRegister, jobs } = await json('status --check --tolerance 2h', 5);
    assert.equal(hasRegister, true);
    const problems = (jobs as { job: string; problems: { kind: string }[] }[]).map((job) => [
      job.job,
      job.problems.map(({ kind }) => kind),
    ]);
    assert.deepEqual(Object.fromEntries(problems), {
      ...{ broken: ['failed'], fine: [], gap: ['missed'], late: [], 'week-days': [] },
    });
  },
  ['mysql', 'mariadb', 'postgres', 'sqlite'],
);

testOperated(
  'status shows who runs a job now, and finds an interrupted run of an earlier day',
  async ({ guard, call, runDaysAgo }) => {
    const interrupted = await runDaysAgo('bill', 2);
    await runDaysAgo('bill', 0);
    const { store } = ledgerOf(guard);
    const key = { job: 'bill', scope: '', periodKey: interrupted };
    await store.change(
      key,
      (found) => ({ value: undefined, write: found && { ...found.run, state: 'interrupted' } }),
      LIMITS,
    );
    const started = {
      ...{ claimedBy: 'web-3/9/an-id', lockId: 'place/report', fencingToken: 1, leaseMs: HOUR_MS },
    };
    await store.insert(
      {
        ...{ job: 'report', scope: 'eu', periodKey: 'key', state: 'running', started },
        ...{ periodStart: undefined, periodEnd: undefined, timeZone: undefined },
      },
      LIMITS,
    );
    const { stdout } = await call('status');
    assert.match(stdout, /^bill .* interrupted$/m);
    assert.match(
      stdout,
      new RegExp(
        `^bill ${interrupted} was interrupted, because its holder crashed\\. Check what it did, then record that: cronlatch resolve bill ${interrupted} --as `,
        'm',
      ),
    );
    assert.match(stdout, /^report +key +running +\d+ s ago +web-3\/9/m);
  },
);

testOperated(
  'status shows the last run of a job that has only a lock, if the register keeps it',
  async (bench) => {
    const { guard, call } = bench;
    await register(guard, dailyJob('clean-up', { kind: 'lock', timeZone: undefined, history: true }));
    const last = {
      job: 'clean-up',
      startedMsAgo: 3 * HOUR_MS,
      finishedMsAgo: 1,
      outcome: 'failed',
      holder: 'web-1/2',
    };
    await ledgerOf(guard).store.updateJobs?.([{ ...last, outcome: 'failed' }], LIMITS);
    const { stdout } = await call('status');
    assert.match(stdout, /^clean-up +failed +3 h ago +in \d+ \w+ +failed$/m);
    assert.match(stdout, /^clean-up failed at \S+ \S+Z$/m);
  },
);

testOperated('without a register, status shows only the jobs that have runs, with a note', async (bench) => {
  await bench.runDaysAgo('fine', 0);
  await bench.query('DROP TABLE cronlatch_job');
  const { status, stdout } = await bench.call('status');
  assert.equal(status, 0);
  assert.match(stdout, /^fine /m);
  assert.match(
    stdout,
    /^Without a register of jobs, only jobs with runs are shown\. cronlatch init creates it\.$/m,
  );
  assert.equal((await bench.json('status'))['hasRegister'], false);
});

testOperated('without problems, status --check ends with 0', async ({ guard, call, runDaysAgo }) => {
  assert.match((await call('status')).stdout, /^there are no jobs yet$/m);
  await register(guard, dailyJob('fine'));
  await runDaysAgo('fine', 0);
  const { status, stdout } = await call('status --check');
  assert.deepEqual([status, stdout], [0, 'no problems\n']);
});

testOperated('jobs lists the register, and what two deployments declare differently', async (bench) => {
  const { guard, call, json } = bench;
  assert.equal((await call('jobs')).stdout, 'no job is registered\n');
  const job = dailyJob('bill');
  await register(
    guard,
    { ...job, registeredBy: 'old-1/1' },
    { ...dailyJob('clean'), registeredBy: 'old-1/1' },
  );
  await register(guard, { ...job, declared: { ...job.declared, dayStart: '02:00' } });
  const { stdout } = await call('jobs');
  assert.match(stdout, /^bill +once per day, UTC +0 3 \* \* \* \(UTC\) .* web-1\/17$/m);
  assert.match(stdout, /^bill: dayStart is "02:00" on web-1\/17, and was not set on old-1\/1 at /m);
  assert.ok(!stdout.includes('clean:'));
  const { jobs } = await json('jobs');
  assert.deepEqual(
    (jobs as { job: string }[]).map((each) => each.job),
    ['bill', 'clean'],
  );
});
