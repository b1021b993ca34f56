import assert from 'node:assert/strict';
import { hostname, userInfo } from 'node:os';
import { testOperated } from './operated';
import { dailyJob, dueJob, ledgerOf, register, registerEarlier } from './year-of-runs';
import { operations } from 'cronlatch/operations';

const MINUTE_MS = 60_000;
const LIMITS = { timeoutMs: 5000 };
const ON_SERVERS = ['mysql', 'mariadb', 'postgres'] as const;
const CHANGE = `--yes --reason 'ticket 7'`;

testOperated(
  'an operator finds a failed run and a missed period, and runs both again',
  async (bench) => {
    const { json, runDaysAgo } = bench;
    await registerEarlier(bench, dailyJob('bill'));
    await runDaysAgo('bill', 3);
    const failed = await runDaysAgo('bill', 1, new Error('no disk'));
    const { missed } = await json(`history bill --missed --from ${daysAgo(5)}`, 5);
    assert.deepEqual(keysOf(missed, 'key'), [daysAgo(2)]);
    const { runs } = await json('history bill');
    assert.deepEqual(keysOf(runs, 'state'), ['failed', 'completed']);
    const { run, before, actor, reason } = await json(`rerun bill ${failed} ${CHANGE} --actor ann`);
    assert.deepEqual(
      [keysOf([before, run], 'state'), actor, reason],
      [['failed', 'pending'], 'ann', 'ticket 7'],
    );
    const { added } = await json(`run bill --from ${daysAgo(2)} --to ${daysAgo(0)} ${CHANGE}`);
    assert.deepEqual(keysOf(added, 'key'), [daysAgo(2)]);
    const { events } = await json(`history bill ${failed}`);
    assert.deepEqual(keysOf(events, 'kind'), ['failed', 'rerun']);
  },
  [...ON_SERVERS, 'sqlite'],
);

testOperated(
  'why names the holder of a lock and the command that releases it, also for a job without runs',
  async ({ guard, call, json, prints, refused }) => {
    const lock = await guard.lockManager().tryLock({ name: 'clean up', lockAtMostFor: '1h' });
    assert.ok(lock);
    const [{ lockedBy = '' } = {}] = (await json('locks --held'))['locks'] as { lockedBy?: string }[];
    const { stdout } = await call(`why 'clean up'`);
    assert.match(
      stdout,
      /^.+ · times in \S+\nLock 'clean up' is held by [^/]+\/\d+\. Its lease was granted at [\d:]{8}, and ends (on \w+ )?at \d\d:\d\d at the latest\. /,
    );
    const command = `cronlatch release 'clean up' --owner ${lockedBy} --reason TEXT`;
    assert.ok(stdout.includes(`\n  ${command}\n`), stdout);

    const other = /is held by '.+', not by 'other\/1\/id'\./;
    await refused(`release 'clean up' --owner other/1/id ${CHANGE}`, 4, other);
    const released = await call(`${command.replace('cronlatch ', '').replace('--reason TEXT', CHANGE)}`);
    assert.equal(released.status, 0);
    assert.match(released.stdout, /\nReleased\.\n$/);
    const free = `Lock 'clean up' is free: no process holds it.`;
    await refused(`release 'clean up' --owner ${lockedBy} ${CHANGE}`, 4, free);
    await prints(`why 'clean up'`, /^clean up · times in UTC\nNothing keeps it from running\.\n$/);
    await prints('locks --held', /^no lock is held\n$/);
    await prints('locks', /^clean up +· free$/m);
  },
);

testOperated('locks shows who holds a lock, and release accepts that', async ({ guard, call, prints }) => {
  await guard.lockManager().tryLock({ name: 'job', lockAtMostFor: '1h' });
  const by = { actor: 'ann@ops/1', reason: 'an audit/of the books' };
  await operations(guard).pause({ lock: 'held' }, { ...by, until: '1h' });
  const { stdout } = await call('locks');
  assert.match(stdout, /^held +‖ paused +ann@ops\/1: an audit\/of the books +(\w{3} )?\d\d:\d\d /m);
  const [, holder = ''] = /^job +▶ held +(\S+) /m.exec(stdout) ?? [];
  assert.equal(holder, `${hostname()}/${process.pid}`);
  await prints('locks --verbose', new RegExp(`^job .* ${holder}/[\\da-f-]{36} `, 'm'));
  assert.equal((await call(`release job --owner ${holder}0 ${CHANGE}`)).status, 4);
  assert.equal((await call(`release job --owner ${holder} ${CHANGE}`)).status, 0);
});

testOperated(
  'release accepts the owner of a lease that its holder has renewed since',
  async ({ guard, call }) => {
    const lock = await guard.lockManager().tryLock({ name: 'job', lockAtMostFor: '1h' });
    const read = await guard.locks.inspect('job');
    await lock?.extend('2h');
    assert.notEqual((await guard.locks.inspect('job'))?.lockedBy, read?.lockedBy);
    assert.equal((await call(`release job --owner ${read?.lockedBy} ${CHANGE}`)).status, 0);
  },
);

testOperated('a run is found by its key, also if its job has other periods now', async (bench) => {
  const period = await bench.runDaysAgo('bill', 3);
  await register(bench.guard, dailyJob('bill', { kind: 'week' }));
  await bench.prints(`history bill ${period}`, new RegExp(`^bill ${period} · `));
  assert.equal((await bench.call('history bill 2026-11-31')).status, 2);
});

testOperated(
  'why shows how to release a lock that is kept alive only when a renewal is late (C-08)',
  async ({ guard, call, query }) => {
    await register(guard, dailyJob('long', { lockAtMostForMs: 50 * MINUTE_MS, renewEveryMs: 1_000_000 }));
    await guard.lockManager().tryLock({ name: 'long', lockAtMostFor: '50m' });
    const whyAfter = async (agoMs: number): Promise<string> => {
      const [at, until] = [Date.now() - agoMs, Date.now() - agoMs + 50 * MINUTE_MS].map((ms) => ms * 1000);
      await query(`UPDATE shedlock SET locked_at = ${at}, lock_until = ${until}`);
      return (await call('why long')).stdout;
    };
    const notDue =
      /^.+ · times in \S+\nLock 'long' is held by [^/]+\/(\d+)\. .+ The next renewal is due at .+\. Nothing shows before whether its holder lives\. On its host: ps -p \1\.\n(?!.*cronlatch release)/;
    for (const ms of [2000, 50_000, 81_000, 16 * MINUTE_MS]) assert.match(await whyAfter(ms), notDue);
    assert.match(
      await whyAfter(20 * MINUTE_MS),
      /\nLock 'long' .+ Its first renewal was due at .+, and may be a little late\. On its host: ps -p \d+\.\n(?!.*cronlatch release)/,
    );
    assert.match(
      await whyAfter(22 * MINUTE_MS),
      /^.+ · times in \S+\nLock 'long' .+ Its renewal was due at .+, and did not come\. On its host: ps -p \d+\. If you have seen that its process is dead, release it:\n {2}cronlatch release long --owner /,
    );
    await query(`UPDATE shedlock SET locked_by = locked_by || '/1'`);
    assert.match(
      await whyAfter(16 * MINUTE_MS),
      /^.+ · times in \S+\nRunning: for 16 min \d s on [^/]+\/\d+, lease renewed 16 min ago\.\nLock 'long' .+ Its holder renews it, the next time at .+: wait for its end\.\n(?!.*cronlatch release)/,
    );
  },
);

testOperated(
  'why claims no renewal of a lease that is not as the job declares it, nor by the job of a shared lock',
  async ({ guard, call, query }) => {
    const renewed = { lockAtMostForMs: 60 * MINUTE_MS, renewEveryMs: 20 * MINUTE_MS };
    await register(
      guard,
      dailyJob('long', { ...renewed, maxLockDurationMs: 120 * MINUTE_MS }),
      dailyJob('report', { ...renewed, lock: 'books' }),
      dailyJob('close-day', { lock: 'books' }),
    );
    for (const name of ['long', 'books']) await guard.lockManager().tryLock({ name, lockAtMostFor: '10m' });
    const whyWith = async (job: string, grantedMs: number, endsMs: number): Promise<string> => {
      const [at, until] = [grantedMs, endsMs].map((minutes) => (Date.now() + minutes * MINUTE_MS) * 1000);
      await query(
        `UPDATE shedlock SET locked_at = ${at}, lock_until = ${until} WHERE name <> 'cronlatch-place'`,
      );
      return (await call(`why ${job}`)).stdout;
    };
    const unknown =
      /^.+ · times in \S+\nLock '\w+' .+ It is unknown when its holder renews it, .+ release it:\n/;
    // The job has extended it by two minutes, and then by two hours. At last, the longest lease ends.
    for (const [granted, ends] of [
      [0, 2],
      [-1, 119],
      [-90, 30],
    ] as const)
      assert.match(await whyWith('long', granted, ends), unknown, `${granted} ${ends}`);
    assert.match(await whyWith('report', 0, 10), unknown);
  },
);

testOperated(
  'why reports of a lock that nothing renews that it does not show whether its holder lives',
  async ({ guard, call }) => {
    const lockAtMostFor = '10m';
    const why = async (lock: string): Promise<string> => (await call(`why ${lock}`)).stdout;
    await register(guard, dailyJob('once'));
    await guard.lockManager().tryLock({ name: 'once', lockAtMostFor });
    assert.match(
      await why('once'),
      /^.+ · times in \S+\nLock 'once' .+ Nothing renews it, so nothing shows whether its holder lives\. On its host: ps -p \d+\. If you have seen that its process is dead, release it:\n {2}cronlatch release once --owner /,
    );
    // A lock of no job. Each renewal writes a number after the owner.
    const lock = await guard.lockManager().tryLock({ name: 'by hand', lockAtMostFor });
    assert.match(await why(`'by hand'`), /release 'by hand'/);
    await lock?.extend(lockAtMostFor);
    assert.doesNotMatch(await why(`'by hand'`), /cronlatch release/);
  },
);

testOperated(
  'why reports that a job is disabled, or all guards that have it',
  async ({ guard, json, prints }) => {
    await register(guard, dailyJob('off', { disabled: 'job' }), dailyJob('waits', { disabled: 'guard' }));
    await prints(
      'why off',
      /^.+ · times in \S+\nJob 'off' is disabled: its option enabled is false on web-1\/17, which registered it last\.\n$/,
    );
    await prints(
      'why waits',
      /^.+ · times in \S+\nJob 'waits' is disabled: no instance that declares it is enabled\.\nIts next tick is .+\n$/,
    );
    const { obstacles } = await json('why off');
    assert.deepEqual(keysOf(obstacles, 'reason'), ['disabled']);
  },
);

testOperated(
  'a lock that lockAtLeastFor keeps is not held by a process that has ended',
  async ({ guard, prints }) => {
    const lock = await guard
      .lockManager()
      .tryLock({ name: 'job', lockAtMostFor: '2h', lockAtLeastFor: '1h' });
    await lock?.unlock();
    await prints('locks', /^job +◌ kept +[^/ ]+\/\d+ /m);
    await prints(
      'why job',
      /^.+ · times in \S+\nlockAtLeastFor keeps lock 'job'\. It ends (on \w+ )?at \d\d:\d\d\. The run on [^/]+\/\d+ has ended\.\n$/,
    );
  },
);

testOperated(
  'a run to do again is the newest one, or that of today or yesterday, and --missed needs no date',
  async (bench) => {
    const { guard, json, runDaysAgo, refused } = bench;
    await registerEarlier(bench, dailyJob('bill'));
    await runDaysAgo('bill', 4);
    assert.deepEqual(
      keysOf((await json('history bill --missed', 5))['missed'], 'key'),
      [3, 2, 1].map(daysAgo),
    );
    await runDaysAgo('bill', 1, new Error('no disk'));
    const rerun = async (period: string) =>
      ((await json(`rerun bill ${period} --force ${CHANGE}`))['run'] as { periodKey: string }).periodKey;
    assert.equal(await rerun(''), daysAgo(1));
    const skipped = (await json(`skip bill yesterday ${CHANGE}`))['run'] as { periodKey: string };
    assert.equal(skipped.periodKey, daysAgo(1));
    await runDaysAgo('bill', 0);
    assert.equal(await rerun('today'), daysAgo(0));
    await register(guard, dailyJob('never'));
    await refused(`rerun never ${CHANGE}`, 2, "Job 'never' has no runs, so name the period.");
  },
);

testOperated(
  'a run to do again is found in its scope: that of the newest run, or the one that the job declares',
  async ({ guard, json }) => {
    const run = async (job: string, scope: string): Promise<void> => {
      const oncePer = { period: 'day', timeZone: 'UTC', scope } as const;
      await guard.run({ name: job, lockAtMostFor: '10m', oncePer }, () => {});
    };
    const rerun = async (args: string) => {
      const { scope, state } = (await json(`rerun ${args} --force ${CHANGE}`))['run'] as {
        scope: string;
        state: string;
      };
      return [scope, state];
    };
    await run('scoped', 'eu');
    assert.deepEqual(await rerun('scoped'), ['eu', 'pending']);
    await run('scoped', 'us');
    assert.deepEqual(await rerun('scoped'), ['us', 'pending']);
    await register(guard, dailyJob('declared', { scope: 'eu' }));
    await run('declared', 'us');
    await run('declared', 'eu');
    assert.deepEqual(await rerun('declared today'), ['eu', 'pending']);
  },
);

testOperated(
  'why reads the owner of a lock as all other commands do',
  async ({ guard, call, query, prints }) => {
    await operations(guard).pause({ lock: 'bill' }, { actor: 'team/ops 100%', reason: 'audit/books' });
    const held = await call('why bill');
    assert.match(
      held.stdout,
      /^.+ · times in \S+\nteam\/ops 100% has paused lock 'bill': audit\/books\. No instance runs the job\. The pause began at .+, and ends .+\n {2}cronlatch resume --lock bill /,
    );
    await guard.lockManager().tryLock({ name: 'send', lockAtMostFor: '10m' });
    const owner = 'hold/17/5718926d-b3c9-40f8-9b04-5ab8fa7cfb6b/1';
    await query(`UPDATE shedlock SET locked_by = '${owner}' WHERE name = 'send'`);
    await prints(
      'why send',
      /^.+ · times in \S+\nRunning: .+ on hold\/17\.\nLock 'send' is held by hold\/17\. /,
    );
  },
);

testOperated(
  'a command that why prints also works for names that begin with a dash',
  async ({ guard, call }) => {
    await guard.lockManager().tryLock({ name: '--yes', lockAtMostFor: '10m' });
    const { stdout } = await call('why -- --yes');
    const [, command = ''] = /^ {2}cronlatch (release .+)$/m.exec(stdout) ?? [];
    assert.match(command, / -- --yes$/);
    const released = await call(command.replace('TEXT', 'crashed --yes'));
    assert.deepEqual([released.status, released.stdout.split('\n').at(-2)], [0, 'Released.']);
  },
);

testOperated('why ends the reason of a failure with one full stop', async ({ runDaysAgo, prints }) => {
  await runDaysAgo('bill', 0, new Error('The disk is full.'));
  await prints('why bill', /: Error: The disk is full\. To run it again:\n/);
});

testOperated('why warns if the runs cannot be read', async ({ call, guard, query }) => {
  await guard.run({ name: 'bill', lockAtMostFor: '1m' }, () => 1);
  await query('DROP TABLE cronlatch_run_event');
  const { status, stdout, stderr } = await call('why bill');
  assert.deepEqual([status, stdout], [0, 'bill · times in UTC\nNothing keeps it from running.\n']);
  assert.match(
    stderr,
    /^cronlatch: warning: The runs are unknown\. Table 'cronlatch_run_event' .+ is missing/,
  );
});

testOperated('why explains each state of the newest run', async (bench) => {
  const { guard, call, runDaysAgo } = bench;
  await registerEarlier(bench, dueJob('bill', 3_600_000));
  const why = async (): Promise<string> => (await call('why bill')).stdout;
  const LATE =
    /\nIts tick (on \w+ )?at \S+ has not been answered: check that an instance with this job is running\. To run it:\n {2}cronlatch run bill --reason TEXT\n$/;
  assert.match(await why(), /^.+ · times in \S+\nNothing keeps it from running\.\n/);
  assert.match(await why(), LATE);
  const yesterday = await runDaysAgo('bill', 1, new Error('no disk'));
  assert.match(
    await why(),
    /^.+ · times in \S+\nNothing keeps it from running\.\nThe run for \S+ failed permanently at \S+, after attempt 1: Error: no disk\. /,
  );
  assert.ok((await why()).includes(`\n  cronlatch rerun bill ${yesterday} --reason TEXT\n`));
  const today = await runDaysAgo('bill', 0);
  assert.match(
    await why(),
    new RegExp(`\nThe run for ${today} completed at .+\n  cronlatch rerun bill ${today} --force `),
  );
  const states = {
    running: /\nThe run for \S+ began at .+, but no process holds the lock\. /,
    interrupted: new RegExp(`was interrupted at .+\n  cronlatch resolve bill ${today} --as OUTCOME `),
    skipped: /was skipped: operator\. To run it anyway:\n/,
    pending: /\nThe run for \S+ was due at /,
  };
  for (const [state, text] of Object.entries(states)) {
    await ledgerOf(guard).store.change(
      { job: 'bill', scope: '', periodKey: today },
      (found) => ({
        value: undefined,
        write: found && {
          ...found.run,
          state: state as 'running',
          reason: 'operator',
          nextAttemptAt: found.now,
        },
      }),
      LIMITS,
    );
    assert.match(await why(), text, state);
  }
});

testOperated(
  'resolve and skip change a run, or end with 4 and announce nothing if its state does not allow it',
  async (bench) => {
    const { guard, json, runDaysAgo, prints, refused } = bench;
    await register(guard, dailyJob('bill'));
    const period = await runDaysAgo('bill', 1);
    for (const [args, line] of [
      [
        `resolve bill ${period} --as failed`,
        /^Cannot resolve the run of job 'bill' for \S+: it is completed\./,
      ],
      [`rerun bill ${period}`, / To rerun it anyway, pass --force\.$/],
      [`rerun bill ${daysAgo(2)}`, /: no such run exists\./],
      [`skip bill ${period}`, /^Cannot skip .+: it is completed\./],
    ] as const)
      await refused(`${args} ${CHANGE}`, 4, line);
    const { run, actor } = await json(`skip bill ${daysAgo(2)} ${CHANGE}`);
    assert.deepEqual([keysOf([run], 'state'), actor], [['skipped'], `${userInfo().username}@${hostname()}`]);
    const shown =
      /^bill \S+ · times in UTC\nIt was skipped: operator\.\n.*\n.* +skipped +\S+@\S+ +ticket 7\n$/;
    await prints(`history bill ${daysAgo(2)}`, shown);
    // Its calendar is code of the application, but its days are known.
    await register(guard, dailyJob('audit', { hasCalendar: true }));
    const { run: day } = await json(`skip audit ${daysAgo(2)} ${CHANGE}`);
    assert.equal((day as { periodStart: string }).periodStart, `${daysAgo(2)}T00:00:00.000Z`);
  },
);

testOperated(
  'purge deletes old runs, but not the newest, and records of locks only with --locks',
  async (bench) => {
    const { json, runDaysAgo, prints } = bench;
    for (const days of [40, 30, 20]) await runDaysAgo('bill', days);
    await bench.query(`UPDATE cronlatch_run SET updated_at = updated_at - 3600000000`);
    assert.equal((await json(`purge --older-than 1m ${CHANGE}`))['deleted'], 2);
    await bench.query(`UPDATE shedlock SET lock_until = 1767225600000000`);
    await prints(`purge --locks --older-than 1d ${CHANGE}`, /\nDeleted 1\.\n$/);
  },
);

testOperated(
  'why --at computes the period of a date or an instant, by what the instances declare',
  async (bench) => {
    const { guard, json, prints } = bench;
    await register(guard, dailyJob('bill', { dayStart: '02:00', timeZone: 'Europe/Paris' }));
    for (const [at, key] of [
      ['2026-11-20', '2026-11-20'],
      ['2026-11-20T00:59:59Z', '2026-11-19'],
      ['2026-11-20T02:00:00+01:00', '2026-11-20'],
    ])
      assert.equal((await json(`why bill --at ${at}`))['periodKey'], key);
    await prints(
      'why bill --at now',
      /^A tick of job 'bill' at .+ The tick would request the lock and run it\.\n$/,
    );
  },
);

testOperated(
  'why --at shows what was due, what ran, and whether a period without a run is made up',
  async (bench) => {
    const { guard, call } = bench;
    const schedules = [{ expression: '0 0 * * *', timeZone: 'UTC', dialect: 'croner' }] as const;
    await register(guard, dailyJob('bill', { schedules }));
    const today = daysAgo(0);
    const text = async (at: string): Promise<string> => (await call(`why bill --at ${at}`)).stdout;
    const declared = /, but only since \S+ \S+Z\. A tick of job 'bill' .+ No instance makes it up\.\n$/;
    assert.match(await text(today), declared);
    assert.match(
      await text(`${today}T01:00:00Z`),
      /^Its schedule has no tick at \S+ \S+Z: the last one before it is /,
    );
    await bench.query(`UPDATE cronlatch_job SET declared_at = declared_at - 86400000000`);
    assert.match(
      await text(today),
      /^Its schedule has a tick at \S+ \S+Z\. .+ An instance makes it up at its next check\.\n$/,
    );
    await bench.runDaysAgo('bill', 0);
    assert.match(await text(today), / Its run completed .+ The tick would not run it: already-completed\./);
  },
);

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

function keysOf(list: unknown, key: string): unknown[] {
  return (list as object[]).map((each) => Reflect.get(each, key) as unknown);
}

testOperated('history shows what ran since an instant', async (bench) => {
  const { call, json, runDaysAgo, query, prints } = bench;
  await runDaysAgo('new', 3);
  await runDaysAgo('old', 1, new Error('no disk'));
  const started = (Date.now() - 5 * 3_600_000) * 1000;
  await query(`UPDATE cronlatch_run SET started_at = ${started} WHERE job_name = 'old'`);
  const jobsOf = async (args: string) => keysOf((await json(`history ${args}`))['runs'], 'job');
  assert.deepEqual(await jobsOf(''), ['new', 'old']);
  assert.deepEqual(await jobsOf(`--since ${new Date(Date.now() - 3_600_000).toISOString()}`), ['new']);
  assert.deepEqual([await jobsOf('old --since 3h'), await jobsOf('old')], [[], ['old']]);
  const { stdout } = await call('history');
  assert.match(
    stdout,
    /^2 runs, 1 failed · times in UTC\nstarted +took +job +period +state +attempt +on +details$/m,
  );
  assert.match(stdout, /^[A-Z]?.*\d\d:\d\d .+ old +\S+ +✗ failed +1 .* Error: no disk$/m);
  await prints('history old --since 3h', /^old has no runs since \S+ \S+Z$/m);
  for (const args of ['--since yesterday', 'bill --period 2026-11-20'])
    assert.equal((await call(`history ${args}`)).status, 2);
});
