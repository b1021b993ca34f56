import assert from 'node:assert/strict';
import { DAY_MS, testOperated, type Operated } from './operated';
import { dailyJob, dueJob, register, registerEarlier } from './year-of-runs';

const EVERY = ['mysql', 'mariadb', 'postgres', 'sqlite'] as const;
const CHANGE = `--yes --reason 'it was renamed'`;

/** What a row can hold that this version cannot read. */
const UNREADABLE: Readonly<Record<string, string>> = {
  'a newer kind': JSON.stringify({ ...dailyJob('x').declared, kind: 'fortnight' }),
  'a newer form': '{"kind":"day"}',
  null: 'null',
  'damaged text': '{"lock":',
};

async function damage({ query }: Operated, job: string, declared: string): Promise<void> {
  await query(
    `UPDATE cronlatch_job SET declared = '${declared}', version = '9.8.7' WHERE job_name = '${job}'`,
  );
}

for (const [what, declared] of Object.entries(UNREADABLE))
  testOperated(`a row of the register with ${what} is named, and the other jobs are shown`, async (bench) => {
    const { call, json, prints, refused } = bench;
    await registerEarlier(bench, dailyJob('new'), dailyJob('late', { kind: 'lock' }));
    await damage(bench, 'new', declared);
    const text = `Job 'new' cannot be read: cronlatch 9.8.7 has registered it. Use that version here. If your code no longer has the job, use cronlatch forget.`;
    const whole = `${text} cronlatch forget new --reason TEXT`;
    const checked = await call('status --check');
    assert.deepEqual([checked.status, checked.stderr], [5, '']);
    assert.match(checked.stdout, /^Job 'late' is late: /m);
    assert.ok(checked.stdout.split('\n').includes(whole), checked.stdout);
    await prints('status', /^new +✗ unreadable /m);
    const { status, stdout } = await call('jobs');
    assert.equal(status, 0);
    assert.match(stdout, /^late +at every tick /m);
    assert.ok(stdout.includes(`${text}\n  cronlatch forget new --reason TEXT\n`), stdout);
    const { jobs, unreadable } = await json('jobs');
    assert.deepEqual([jobs, unreadable].map(namesIn), [['late'], ['new']]);
    await refused('history new --missed --from 2026-11-01', 2, text);
    assert.equal((await call('why late')).status, 0);
  });

testOperated(
  'a job whose time zone this Node does not know is named, and not to be forgotten',
  async (bench) => {
    await register(bench.guard, dailyJob('new'), dailyJob('other'));
    await damage(bench, 'new', JSON.stringify({ ...dailyJob('new').declared, timeZone: 'America/Nowhere' }));
    const { node, icu = '', tz = '' } = process.versions;
    const text = `Job 'new' cannot be read: its time zone 'America/Nowhere' is unknown to this Node ${node} (ICU ${icu}, time zones ${tz}). Use a newer Node here.`;
    for (const command of ['status --check', 'jobs']) {
      const { stdout } = await bench.call(command);
      assert.ok(stdout.split('\n').includes(text), stdout);
      assert.doesNotMatch(stdout, /forget/);
    }
    await bench.refused('history new --missed --from 2026-11-01', 2, text);
  },
);

testOperated('an unreadable row does not keep an instance from registering its jobs', async (bench) => {
  await register(bench.guard, dailyJob('new'), dailyJob('other'));
  await damage(bench, 'new', '{"lock":');
  const guard = await bench.createJobGuard(bench.url, { logger: false, pollInterval: false });
  const oncePer = { period: 'day', timeZone: 'UTC' } as const;
  const warnings: string[] = [];
  guard.on('guard:warning', ({ message }) => void warnings.push(message));
  for (const name of ['new', 'more']) guard.wrap({ name, lockAtMostFor: '10m', oncePer }, () => {});
  await guard.runOverdue();
  await guard.close();
  assert.deepEqual(warnings, []);
  const { jobs } = await bench.json('jobs');
  assert.deepEqual(namesIn(jobs), ['more', 'new', 'other']);
});

function namesIn(jobs: unknown): string[] {
  return ((jobs ?? []) as { job: string }[]).map(({ job }) => job);
}

testOperated(
  'forget removes a job that no instance declares, and nothing else',
  async (bench) => {
    const { guard, call, json, query, runDaysAgo, prints, refused } = bench;
    await registerEarlier(bench, ...['gone', 'stays'].map((job) => dueJob(job, DAY_MS, { kind: 'lock' })));
    await runDaysAgo('gone', 0);
    const fresh =
      "Cannot forget job 'gone': web-1/17 has registered it within the last 15 minutes. Remove the job there, and try again when all instances have stopped or restarted.";
    await refused(`forget gone ${CHANGE}`, 4, fresh);
    await query(`UPDATE cronlatch_job SET registered_at = declared_at`);
    const { forgotten, reason } = await json(`forget gone ${CHANGE}`);
    assert.deepEqual([forgotten, reason], ['gone', 'it was renamed']);
    assert.equal((await json('history gone'))['job'], 'gone');
    assert.equal((await guard.locks.inspect('gone'))?.name, 'gone');
    assert.deepEqual(namesIn((await json('jobs'))['jobs']), ['stays']);
    await prints('status --check', /^Job 'stays' is late: [^\n]+\n$/);
    await refused(`forget gone ${CHANGE}`, 4, "Cannot forget job 'gone': it is not registered.");
    await prints(`forget stays ${CHANGE}`, /^Forgotten\.\n$/m);
    assert.deepEqual((await call('status --check')).stdout, 'no problems\n');
  },
  EVERY,
);

testOperated('a job that is declared disabled causes no problem in status', async (bench) => {
  const { call, runDaysAgo, prints } = bench;
  await runDaysAgo('off', 4);
  await registerEarlier(bench, dailyJob('off', { disabled: 'job' }));
  assert.deepEqual((await call('status --check')).stdout, 'no problems\n');
  await prints('jobs', /^off +once per day, UTC +0 3 \* \* \* \(UTC\); disabled /m);
});
