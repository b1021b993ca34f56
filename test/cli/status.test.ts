import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { DAY_MS, testOperated } from './operated';
import { started } from './started';
import { dailyJob, dueJob, ledgerOf, register, registerEarlier } from './year-of-runs';
import { operations } from 'cronlatch/operations';

const LIMITS = { timeoutMs: 5000 };
const HOUR_MS = 3_600_000;

function daysAfter(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

testOperated(
  'status shows the last run, the next tick and the problems of each job, and --check ends with 5',
  async (bench) => {
    const { call, json, runDaysAgo } = bench;
    const weekDay = new Date(Date.now() - 4 * DAY_MS).getUTCDay();
    await registerEarlier(
      bench,
      dailyJob('fine'),
      dueJob('late', HOUR_MS, { kind: 'lock' }),
      dailyJob('gap'),
      dailyJob('weekly', {
        schedules: [{ expression: `0 3 * * ${weekDay}`, timeZone: 'UTC', dialect: 'unix' }],
      }),
      dailyJob('broken'),
    );
    await runDaysAgo('fine', 0);
    const [newest] = [await runDaysAgo('gap', 4), await runDaysAgo('weekly', 4)];
    await runDaysAgo('gap', 0);
    const failed = await runDaysAgo('broken', 0, new Error('no disk'));

    const shown = await call('status');
    assert.deepEqual([shown.status, shown.stderr], [0, '']);
    const [head = '', answer, ...lines] = shown.stdout.split('\n');
    assert.match(head, / · \S+ \S+Z$/);
    assert.equal(answer, '5 jobs: 2 ok, 1 failed, 1 missed, 1 late');
    const first = daysAfter(newest, 1);
    assert.deepEqual(
      lines.slice(0, 8).map((line) => line.replace(/\d+ (s|h|min) ago/, 'AGO')),
      [
        '',
        `✗ The run of job 'broken' for ${failed} failed permanently AGO, after attempt 1: Error: no disk. To run it again:`,
        `  cronlatch rerun broken ${failed} --reason TEXT`,
        `○ Job 'gap' has missed ${first} and 2 more. To run them:`,
        `  cronlatch run gap --from ${first} --to ${daysAfter(newest, 3)} --reason TEXT`,
        "✗ Job 'late' is late: its tick was due AGO, and no instance has answered it.",
        '  cronlatch why late',
        '',
      ],
    );
    const rows = lines.slice(8).map((line) => line.replace(/\d+ (s|h|min|d) ago/g, 'AGO').split(/ {2,}/));
    assert.deepEqual(rows.slice(0, 3), [
      ['job', 'state', 'last run', 'started', 'next tick'],
      ['broken', '✗ failed', failed, 'AGO', rows[1]?.[4]],
      ['gap', '○ missed', failed, 'AGO', rows[2]?.[4]],
    ]);
    assert.deepEqual(
      rows.slice(3, 6).map(([job, state]) => [job, state]),
      [
        ['late', '✗ late'],
        ['fine', '✓ ok'],
        ['weekly', '✓ ok'],
      ],
    );

    const checked = await call('status --check');
    assert.equal(checked.status, 5);
    assert.deepEqual(checked.stdout.replace(/\S+ \d\d:\S+Z/g, 'T').split('\n'), [
      `The run of job 'broken' for ${failed} failed permanently at T, after attempt 1: Error: no disk. To run it again: cronlatch rerun broken ${failed} --reason TEXT`,
      `Job 'gap' has missed ${first} and 2 more. To run them: cronlatch run gap --from ${first} --to ${daysAfter(newest, 3)} --reason TEXT`,
      "Job 'late' is late: its tick was due at T, and no instance has answered it. cronlatch why late",
      '',
    ]);

    const { hasRegister, jobs } = await json('status --check --tolerance 2h', 5);
    assert.equal(hasRegister, true);
    type Problem = { readonly kind: string; readonly remedy: unknown; readonly command: unknown };
    const all = jobs as { job: string; problems: Problem[] }[];
    const problems = all.map((job) => [job.job, job.problems.map(({ kind }) => kind)] as const);
    assert.deepEqual(Object.fromEntries(problems), {
      ...{ broken: ['failed'], fine: [], gap: ['missed'], late: [], weekly: [] },
    });
    const { remedy, command } = all.find(({ job }) => job === 'broken')?.problems[0] ?? {};
    assert.deepEqual(remedy, { verb: 'rerun', subject: { job: 'broken', period: failed }, values: {} });
    assert.deepEqual(command, ['rerun', 'broken', failed, '--reason', 'TEXT']);
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
    assert.match(stdout, /^bill +! interrupted /m);
    assert.match(
      stdout,
      new RegExp(
        `^! The run of job 'bill' for ${interrupted} was interrupted .+: its lease had ended, and \\S+/\\d+ has not come back\\. It may .+\n {2}cronlatch resolve bill ${interrupted} --as OUTCOME --reason TEXT$`,
        'm',
      ),
    );
    assert.match(stdout, /^report +▶ running on web-3\/9 +key +\d+ s ago$/m);
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

testOperated('without problems, status --check ends with 0', async ({ guard, call, runDaysAgo, prints }) => {
  await prints('status', / \S+Z\nthere are no jobs yet\n/);
  await register(guard, dailyJob('fine'));
  await runDaysAgo('fine', 0);
  const { status, stdout } = await call('status --check');
  assert.deepEqual([status, stdout], [0, 'no problems\n']);
});

testOperated(
  'status shows pauses, locks that are held or kept, disabled and undeclared jobs in words of their own',
  async ({ guard, call, json, query, runDaysAgo }) => {
    const lockOnly = { kind: 'lock', timeZone: undefined, schedules: [] } as const;
    await register(
      guard,
      ...['held', 'waits', 'gone'].map((job) => dailyJob(job, lockOnly)),
      dailyJob('off', { disabled: 'job' }),
      dailyJob('green', { disabled: 'guard' }),
      dailyJob('-x', { lock: '-y' }),
    );
    for (const job of ['off', 'green']) await runDaysAgo(job, 0);
    const locks = guard.lockManager();
    await locks.tryLock({ name: 'held', lockAtMostFor: '2h' });
    await locks.tryLock({ name: 'of no job', lockAtMostFor: '2h' });
    await (await locks.tryLock({ name: 'waits', lockAtMostFor: '2h', lockAtLeastFor: '1h' }))?.unlock();
    const by = { actor: 'anne', reason: 'moving\u202eback' };
    await operations(guard).pause({ lock: '-y' }, { ...by, until: '2h' });
    await query(
      `UPDATE cronlatch_job SET registered_at = registered_at - ${8 * DAY_MS * 1000} WHERE job_name = 'gone'`,
    );

    const { stdout } = await call('status');
    assert.match(stdout, /\n6 jobs: 1 running, 1 paused, 1 kept, 1 no record, 2 disabled\n/);
    for (const found of [
      /^‖ anne has paused lock '-y': moving\\u202eback\. The pause ends in 1 h\. To end it now:\n {2}cronlatch resume --reason TEXT -- -x$/m,
      /^· Job 'gone' was last declared 8 d ago\. If your code no longer has it:\n {2}cronlatch forget gone --reason TEXT$/m,
      /^-x +‖ paused, ends in 1 h /m,
      /^green +· disabled /m,
      /^held +▶ running on [^/ ]+\/\d+ /m,
      /^waits +◌ kept on [^/ ]+\/\d+, ends in 59 min /m,
      /^gone +· no record /m,
      /^off +· disabled /m,
      /^of no job +▶ held on [^/ ]+\/\d+ /m,
    ])
      assert.match(stdout, found);
    const checked = await call('status --check');
    assert.deepEqual(
      [checked.status, checked.stdout.replace(/ends at \S+ \S+Z/, 'ends at T')],
      [
        0,
        "anne has paused lock '-y': moving\\u202eback. The pause ends at T. To end it now: cronlatch resume --reason TEXT -- -x\nno problems\n",
      ],
    );
    assert.deepEqual(keysIn((await json('status'))['locks'], 'name'), ['of no job']);
  },
);

function keysIn(rows: unknown, key: string): unknown[] {
  return (rows as Record<string, unknown>[]).map((row) => row[key]);
}

testOperated(
  'status --watch goes on while the database fails, until Ctrl-C',
  async ({ guard, url, query, refused }) => {
    await register(guard, dailyJob('first'));
    const hook = `--require ${resolve('test/cli/fixtures/interactive.cjs')}`;
    const watch = started(['status', '--watch'], { DATABASE_URL: url, NODE_OPTIONS: hook });
    await watch.printed('1 job: 1 not run yet');
    await query('ALTER TABLE cronlatch_run RENAME TO elsewhere');
    await watch.printed('This is what it was before:');
    await query('ALTER TABLE elsewhere RENAME TO cronlatch_run');
    await register(guard, dailyJob('second'));
    await watch.printed('2 jobs: 2 not run yet');
    watch.kill('SIGINT');
    assert.deepEqual((await watch.ended).status, 0);
    await refused('status --watch', 2, '--watch draws on a terminal, and this is none.');
  },
);

testOperated('jobs lists the register, with the instance that declared each job last', async (bench) => {
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
  assert.match(stdout, /^clean +once per day, UTC +0 3 \* \* \* \(UTC\) .* old-1\/1$/m);
  const { jobs } = await json('jobs');
  assert.deepEqual(
    (jobs as { job: string }[]).map((each) => each.job),
    ['bill', 'clean'],
  );
});
