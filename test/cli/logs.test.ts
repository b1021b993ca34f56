import assert from 'node:assert/strict';
import { currentRun } from 'cronlatch';
import { closing } from '../support/benches/closing';
import { signal } from '../support/benches/executor';
import { eventually } from '../support/clocks/eventually';
import { errorLines } from './cronlatch';
import { testOperated } from './operated';
import { started } from './started';

const DAY = { period: 'day', timeZone: 'UTC', retry: { maxAttempts: 2, initialDelay: 0 } } as const;
const JOB = { name: 'import', lockAtMostFor: '10m', oncePer: DAY } as const;
const OF_GUARD = { logger: false, pollInterval: false, keepLog: '64 kB' } as const;

testOperated(
  'logs prints what the attempts of a run have printed, the newest run by default',
  async ({ createJobGuard, url, call, json }) => {
    await using guard = closing(await createJobGuard(url, OF_GUARD));
    const print = (date: string, print: () => void): Promise<unknown> =>
      guard.run({ ...JOB, at: new Date(`${date}T12:00Z`) }, print);
    await print('2026-11-19', () => currentRun().log('of the first day\n'));
    const failing = print('2026-11-20', () => {
      currentRun().log('  indented, é\tand \u001b[31mred\u001b[0m');
      currentRun().log('title \u001b]0;owned\u0007 and \u202ebidi \u0008');
      throw new Error('no disk');
    });
    await assert.rejects(failing, /no disk/);
    await print('2026-11-20', () => currentRun().log('again'));
    await print('2026-11-21', () => {});
    await guard.close();

    const second = await call('logs import 2026-11-20 --utc');
    assert.deepEqual([second.status, second.stderr], [0, '']);
    const [head, state, begun, first, title, attempt, ...rest] = second.stdout.split('\n');
    assert.match(head ?? '', /^import 2026-11-20 · times in UTC$/);
    assert.match(state ?? '', /^It completed at \d\d:\d\d:\d\d\.$/);
    assert.match(begun ?? '', /^attempt 1, at \d\d:\d\d:\d\d:$/);
    assert.equal(first, '  indented, é and red');
    assert.equal(title, 'title  and \\u202ebidi \\u0008');
    assert.match(attempt ?? '', /^attempt 2, at \d\d:\d\d:\d\d:$/);
    assert.deepEqual(rest, ['again', '']);

    const { run, log } = await json('logs import 2026-11-19');
    assert.equal((run as { periodKey: string }).periodKey, '2026-11-19');
    const entries = log as Record<string, unknown>[];
    assert.deepEqual(entries, [
      { id: 1, at: entries[0]?.['at'], generation: 0, attempt: 1, lines: 'of the first day\n' },
    ]);

    const newest = await call('logs import');
    assert.deepEqual([newest.status, newest.stdout], [0, '']);
    assert.deepEqual(errorLines(newest), [
      "the run of job 'import' for 2026-11-21 has no log. With the option keepLog, the guard keeps what a run prints. A logger with a queue can print it in the log of another run.",
    ]);
  },
);

testOperated(
  'logs refuses an unknown job, a period without a run, and --follow with --json',
  async ({ runDaysAgo, refused }) => {
    await runDaysAgo('import', 0);
    const cases = [
      ['logs nothing', 2, /^There is no job 'nothing'/],
      ['logs import 1999-01-01', 4, /^Job 'import' has no run for '1999-01-01'/],
      ['logs import -f --json', 2, /^--follow cannot be combined with --json/],
    ] as const;
    for (const [args, status, message] of cases) await refused(args, status, message);
  },
);

testOperated('logs --follow goes on until the run has ended', async ({ createJobGuard, url }) => {
  await using guard = closing(await createJobGuard(url, OF_GUARD));
  const [isRunning, isSeen] = [signal(), signal()];
  const run = guard.run(JOB, async () => {
    currentRun().log('the beginning');
    isRunning.resolve();
    await isSeen.promise;
    currentRun().log('the end');
  });
  await isRunning.promise;
  const following = started(['logs', 'import', '--follow'], { DATABASE_URL: url });
  await following.printed('the beginning\n');
  isSeen.resolve();
  await run;
  const { status, stdout, stderr } = await following.ended;
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(
    stdout,
    /^import \S+ · times in UTC\nIt is recorded as running: attempt 1 .+\nattempt 1, at .+:\nthe beginning\nthe end\n$/,
  );
});

testOperated(
  'status shows how far a job is that reports it',
  async ({ createJobGuard, url, call, json, prints }) => {
    await using guard = closing(await createJobGuard(url, OF_GUARD));
    const shownAs = async (done: number, total: number | undefined, shown: RegExp): Promise<void> => {
      currentRun().progress(done, total);
      await eventually(async () => shown.test((await call('status')).stdout), `status shows ${shown.source}`);
    };
    await guard.run(JOB, async () => {
      await shownAs(420, 1000, /^import +▶ running 42 % /m);
      await shownAs(2500, undefined, /^import +▶ running 2,500 /m);
      await shownAs(0, 0, /^import +▶ running 0 /m);
      await shownAs(999, 1000, /^import +▶ running 99 % /m);
      const { jobs } = await json('status');
      const [{ running } = { running: [] }] = jobs as { running: { done: number; total: number }[] }[];
      assert.deepEqual([running[0]?.done, running[0]?.total], [999, 1000]);
    });
    await prints('status', /^import +✓ ok /m);
  },
);
