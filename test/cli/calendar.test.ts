import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DAY_MS, testOperated } from './operated';
import { dailyJob, register } from './year-of-runs';

const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

testOperated('calendar shows each of the last 90 business days', async (bench) => {
  const { guard, call, json, runDaysAgo, query } = bench;
  await register(guard, dailyJob('bill'));
  assert.equal((await call('calendar bill')).stdout, 'bill has no runs\n');
  for (const days of [95, 9, 5, 4]) await runDaysAgo('bill', days);
  await runDaysAgo('bill', 3, new Error('no disk'));
  await query(`UPDATE cronlatch_run SET state = 'interrupted' WHERE period_key = '${daysAgo(4)}'`);
  const days = (await json('calendar bill'))['days'] as { businessDate: string; state: string }[];
  assert.deepEqual([days.length, days[0]?.businessDate], [90, daysAgo(89)]);
  const newest = ['completed', 'interrupted', 'failed', 'missed', 'missed', 'pending'];
  assert.deepEqual(
    days.slice(-6).map(({ state }) => state),
    newest,
  );
  const { stdout } = await call('calendar bill', { columns: 60, env: { NO_COLOR: '1' } });
  assert.match(stdout, /^week of +Mo  Tu  We  Th  Fr  Sa  Su\n(\d{4}-\d\d-\d\d [ ○✓!✗◌]+\n){13,14}\n/);
  assert.match(
    stdout,
    /\nstate +days\n○ missed +85\n✓ completed +2\n! interrupted +1\n✗ failed +1\n◌ pending +1\n$/,
  );
  const symbols = stdout
    .split('\n\n')[0]
    ?.replace(/.*Su/, '')
    .replace(/[^○✓!✗◌]/g, '');
  assert.match(symbols ?? '', /^○{80}✓○○○✓!✗○○◌$/);
});

testOperated('calendar leaves out the days that a calendar leaves out', async (bench) => {
  await register(bench.guard, dailyJob('bill', { hasCalendar: true }), dailyJob('hourly', { kind: 'hour' }));
  for (const days of [6, 2]) await bench.runDaysAgo('bill', days);
  const datesOf = async (args: string): Promise<unknown> =>
    ((await bench.json(`calendar bill${args}`))['days'] as { businessDate: string }[]).map(
      ({ businessDate }) => businessDate,
    );
  assert.deepEqual(await datesOf(''), [daysAgo(6), daysAgo(2)]);
  const app = join(dirname(bench.url.replace('sqlite:', '')), 'app.cjs');
  const driver = JSON.stringify(resolve('dist/integrations/better-sqlite3/index.js'));
  const isBusinessDay = `(date) => date !== '${daysAgo(4)}' && date !== '${daysAgo(0)}'`;
  writeFileSync(
    app,
    `exports.guard = require(${driver}).createJobGuard(${JSON.stringify(bench.url)}).then((guard) => {
      const oncePer = { period: 'day', timeZone: 'UTC', calendar: { isBusinessDay: ${isBusinessDay} } };
      guard.wrap({ name: 'bill', lockAtMostFor: '1m', oncePer }, () => 1);
      return guard;
    });`,
  );
  assert.deepEqual(await datesOf(` --app ${app}`), [6, 5, 3, 2, 1].map(daysAgo));
  const { status, stderr } = await bench.call('calendar hourly');
  assert.equal(status, 2);
  assert.match(stderr, /Job 'hourly' does not run once per day\. cronlatch history lists its runs\.\n$/);
});
