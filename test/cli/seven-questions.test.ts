/** The night of thirteen jobs: the first lines of one command answer each question, on a terminal of 80 columns. */
import assert from 'node:assert/strict';
import { currentRun, type JobGuard } from 'cronlatch';
import { closing } from '../support/benches/closing';
import { declareLockJob } from '../support/jobs/lock-job';
import { DAY_MS, testOperated, type Operated } from './operated';
import { dailyJob, register, registerEarlier } from './year-of-runs';

const BY = `--reason 'the bank was late' --actor anne@ops1 --yes`;
const PLAIN = { columns: 80, env: { NO_COLOR: '1' } } as const;
const JOB = {
  lockAtMostFor: '10m',
  oncePer: { period: 'day', timeZone: 'UTC', retry: { maxAttempts: 1 } },
} as const;

/** An instance that runs two of the jobs on request. */
async function instanceOf(bench: Operated): Promise<JobGuard & AsyncDisposable> {
  const guard = await bench.createJobGuard(bench.url, {
    logger: false,
    pollInterval: '100ms',
    keepLog: '64 kB',
  });
  guard.wrap({ name: 'close-day', ...JOB }, () => currentRun().log('42 bookings'));
  declareLockJob(guard, { name: 'send-reminders', lockAtMostFor: '10m' });
  await guard.runOverdue();
  return closing(guard);
}

/** The other eleven, as their instances have left them. @returns the key of today, and of the missed day */
async function fill(bench: Operated): Promise<{ readonly today: string; readonly missed: string }> {
  const { guard, runDaysAgo, query } = bench;
  await registerEarlier(bench, dailyJob('send-invoices'));
  for (const days of [4, 3, 1, 0]) await runDaysAgo('send-invoices', days);
  const off = dailyJob('disabled-report', { disabled: 'job' });
  const lockOnly = ['clean-up', 'refresh-views'].map((job) =>
    dailyJob(job, { kind: 'lock', timeZone: undefined }),
  );
  const others = [
    'settle-card-payments',
    'import-bank-statements',
    'archive',
    'tax-report',
    'payroll',
    'sync',
    'backup',
  ];
  await register(guard, off, ...lockOnly, ...others.map((job) => dailyJob(job)));
  for (const job of ['payroll', 'sync', 'backup']) await runDaysAgo(job, 0);
  await runDaysAgo(
    'settle-card-payments',
    0,
    new Error('ECONNREFUSED 10.0.0.7:8443, the terminal of the bank'),
  );
  await runDaysAgo('import-bank-statements', 0);
  await query(`UPDATE cronlatch_run SET state = 'interrupted', reason = 'lease-ended',
    claimed_by = 'web-2/2710/0f9a0c1d-3a4b-4c5d-8e6f-7a8b9c0d1e2f' WHERE job_name = 'import-bank-statements'`);
  await guard.lockManager().tryLock({ name: 'refresh-views', lockAtMostFor: '10m' });
  const day = (ago: number): string => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
  return { today: day(0), missed: day(2) };
}

const REQUESTED = 'cronlatch: Requested. The request expires in 1h.\n';

/** Without what differs from call to call, and on one line, because names of hosts decide where a line wraps. */
function plain(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)/g, 'NOW')
    .replace(/\b(on \w{3} )?at \d\d:\d\d(:\d\d)?/g, 'at TIME')
    .replace(/\b(\w{3} )?\d\d:\d\d\b/g, 'TIME')
    .replace(/^[^·]+ · NOW/, 'PLACE · NOW')
    .replace(/\b\d+(\.\d+)? (ms|s|min|h|d)\b/g, 'LONG')
    .replace(/[\w-]+\/\d+\/[\da-f]{8}-[\da-f-]{27}/g, 'OWNER')
    .replace(/(?<![\w-])(?!web-)[\w-]+\/\d+\b/g, 'HOST')
    .replace(/ps -p \d+/, 'ps -p PID')
    .replace(/ \\ /g, ' ');
}

testOperated(
  'the first lines of one command answer each question of a night',
  async (bench) => {
    await using _instance = await instanceOf(bench);
    const { today, missed } = await fill(bench);
    /** The beginning of what a command prints on a terminal of 80 columns. */
    const first = async (args: string, count: number, status = 0): Promise<string> => {
      const ended = await bench.call(args, PLAIN);
      assert.deepEqual([ended.status, ended.stderr.replace(REQUESTED, '')], [status, ''], args);
      const lines = ended.stdout.split('\n');
      for (const line of lines) assert.ok([...line].length <= 80, `${args}: ${line}`);
      return plain(lines.slice(0, count).join('\n')).trim();
    };

    // Run it now.
    assert.equal(
      await first(`run close-day --wait ${BY}`, 4),
      `An instance starts job close-day for ${today} at its next check for overdue runs, if the lock is free. ` +
        'Job close-day on HOST: done.',
    );
    // Pause it for an hour.
    assert.match(
      await first(`pause send-reminders --until 1h ${BY}`, 1),
      /^pause job send-reminders until NOW: no instance starts it until/,
    );
    // What is wrong now?
    const status = await first('status', 23);
    const problems =
      'PLACE · NOW 13 jobs: 4 ok, 1 running, 1 failed, 1 interrupted, 1 paused, 1 missed, 2 not run yet, ' +
      `1 no record, 1 disabled ✗ The run of job 'settle-card-payments' for ${today} failed permanently LONG ago, ` +
      'after attempt 1: Error: ECONNREFUSED 10.0.0.7:8443, the terminal of the bank. To run it again: ' +
      `cronlatch rerun settle-card-payments ${today} --reason TEXT ` +
      `! The run of job 'import-bank-statements' for ${today} was interrupted LONG ago: its lease had ended, and ` +
      'web-2/2710 has not come back. It may still be running: look there first. ' +
      'Then record its outcome: completed, failed or pending. ' +
      `cronlatch resolve import-bank-statements ${today} --as OUTCOME --reason TEXT ` +
      `○ Job 'send-invoices' has missed ${missed}. To run them: ` +
      `cronlatch run send-invoices --from ${missed} --to ${missed} --reason TEXT ` +
      `‖ anne@ops1 has paused lock 'send-reminders': the bank was late. The pause ends in LONG. To end it now: ` +
      'cronlatch resume send-reminders --reason TEXT ';
    assert.ok(status.startsWith(problems), status);
    // Why did it not run?
    for (const [job, why] of Object.entries({
      'send-reminders':
        "anne@ops1 has paused lock 'send-reminders': the bank was late. No instance runs the job. The pause began at TIME, and",
      'settle-card-payments': `The run for ${today} failed permanently at TIME, after attempt 1: Error: ECONNREFUSED`,
      'import-bank-statements': `The run for ${today} was interrupted at TIME: its lease had ended, and web-2/2710 has not`,
      'disabled-report':
        "Job 'disabled-report' is disabled: its option enabled is false on web-1/17, which registered it last.",
      'refresh-views':
        "Lock 'refresh-views' is held by HOST. Its lease was granted at TIME, and ends at TIME at the latest.",
      'tax-report': 'Nothing keeps it from running. Its next tick is at TIME.',
    })) {
      const shown = await first(`why ${job}`, 4);
      assert.ok(shown.startsWith(`${job} · times in UTC ${why}`), shown);
    }
    assert.ok(
      (await first('why send-invoices', 5)).includes(
        `Job 'send-invoices' has missed ${missed}. To run them: `,
      ),
    );
    // What ran last night?
    const night = await first('history --since 12h', 13);
    assert.match(
      night,
      /^10 runs since TIME, 1 failed, 1 interrupted · times in UTC started took job period state on details /,
    );
    assert.match(night, / TIME LONG \S+…\S+ \S+ ✗ failed HOST Error: ECON/);
    // Show its log.
    assert.equal(
      await first('logs close-day', 4),
      `close-day ${today} · times in UTC It completed at TIME. attempt 1, at TIME: 42 bookings`,
    );
    // Who did that?
    assert.equal(
      await first(`history close-day ${today}`, 5),
      `close-day ${today} · times in UTC It completed at TIME. attempt 1, by OWNER ` +
        'at event by details TIME run anne@ops1 the bank was late',
    );
  },
  ['mysql', 'mariadb', 'postgres', 'sqlite'],
);
