import assert from 'node:assert/strict';
import Database from 'better-sqlite3';
import { errorLines } from './cronlatch';
import { DAY_MS, wordsOf } from './operated';
import { JOB, testExec } from './exec-bench';

/** As if the job had been registered, and answered, so many days earlier. */
function moveBack(url: string, days: number): void {
  const database = new Database(url.replace('sqlite:', ''));
  const moved = (column: string): string => `${column} = ${column} - ${days * DAY_MS * 1000}`;
  database.exec(`UPDATE cronlatch_job SET ${moved('declared_at')}, ${moved('answered_at')}`);
  database.close();
}

for (const [period, cron] of [
  ['day', '0 3 * * 1-5'],
  ['week', '0 3 * * 1'],
  ['month', '0 3 1,8,15,22 * *'],
] as const)
  testExec(
    `a program that was not called for longer than a ${period} is missed, or late in a period that has not ended (S-13)`,
    async (bench) => {
      const zone = ['--once-per', period, '--time-zone', 'UTC', '--cron', cron];
      const at = new Date(Date.now() - 30 * DAY_MS).toISOString();
      assert.deepEqual(await bench.exec(...JOB, ...zone, '--scheduled-at', at, 'true'), {
        ...{ status: 0, stdout: '', stderr: '' },
      });
      moveBack(bench.url, 31);
      const checked = await bench.call('status --check');
      assert.match(
        checked.stdout,
        period === 'month' ? /^Job 'nightly' is late: / : /^Job 'nightly' has missed /m,
      );
      assert.equal(checked.status, 5);
      await bench.prints('why nightly', period === 'month' ? /not been answered/ : /has missed /);
      const { nextScheduledAt } = await bench.json('why nightly');
      assert.ok(Date.parse(String(nextScheduledAt)) > Date.now());
    },
  );

testExec(
  'an expression that no cron daemon reads is refused before anything runs (S-14)',
  async ({ exec, guard }) => {
    for (const [expression, message] of [
      [
        '0 3 32 * foo',
        /^The cron expression "0 3 32 \* foo" of job 'nightly' cannot be read: its day of the month is '32'\.$/,
      ],
      ['0 3 31 2 *', /never fires: no date matches it\.$/],
      ['30 0 3 * * *', /its number of fields is 6 instead of 5\.$/],
      ['0 3 */2 * 1', /Write the days as a list/],
    ] as const)
      for (const oncePer of [[], ['--once-per', 'day', '--time-zone', 'UTC']]) {
        const refused = await exec(...JOB, ...oncePer, '--cron', expression, '--', 'echo', 'ran');
        assert.deepEqual([refused.status, refused.stdout], [2, '']);
        assert.match(errorLines(refused)[0] ?? '', message);
      }
    assert.deepEqual(await guard.ledger.jobs(), []);
  },
);

testExec('a program with only a lock is watched by its schedule', async (bench) => {
  const call = [...JOB, '--cron', '* * * * *', '--time-zone', 'UTC', 'true'];
  assert.equal((await bench.exec(...call)).status, 0);
  const [registered] = await bench.guard.ledger.jobs();
  assert.ok(Date.now() - Number(registered?.answeredAt) < 60_000);
  assert.equal((await bench.call('status --check')).stdout, 'no problems\n');
  moveBack(bench.url, 1);
  const checked = await bench.call('status --check');
  assert.match(
    checked.stdout,
    /^Job 'nightly' is late: its tick was due .+, and no instance has answered it\./,
  );
  assert.equal(checked.status, 5);
  assert.equal((await bench.exec(...call)).status, 0);
  assert.equal((await bench.call('status --check')).stdout, 'no problems\n');
});

testExec('two calls of one scheduled time are one run of a tick', async (bench) => {
  const call = [...JOB, ...wordsOf(`--once-per tick --cron '0 3 * * *' --time-zone UTC -- echo ran`)];
  assert.equal((await bench.exec(...call)).stdout, 'ran\n');
  const again = await bench.exec(...call);
  assert.deepEqual([again.status, again.stdout], [0, '']);
  const [run, ...others] = await bench.guard.ledger.list();
  assert.match(run?.periodKey ?? '', /T03:00:00\.000Z$/);
  assert.equal(others.length, 0);
});
