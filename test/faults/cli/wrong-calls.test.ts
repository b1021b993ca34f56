import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cronlatch, errorLines, testInFolder } from '../../cli/cronlatch';
import { testOperated } from '../../cli/operated';
import { dailyJob, register } from '../../cli/year-of-runs';
import { SERVER_NAMES } from '../../support/databases/fresh';

const SECRET = 'top-secret';
const CHANGE = `--yes --reason why`;
const MISSED = 'history close-day --missed';
const SQLITE = JSON.stringify(resolve('dist/integrations/better-sqlite3/index.js'));

/** Calls on a database with some jobs, and the line that each ends with. */
const REFUSED: readonly (readonly [args: string, status: number, line: RegExp])[] = [
  ['history close-dya', 2, /^There is no job 'close-dya'\. Did you mean 'close-day'\?$/],
  ['history x', 2, /^There is no job 'x'\. cronlatch jobs lists the registered jobs\.$/],
  ['history close-day --limit 1.5', 2, /--limit .* is invalid\. Write a whole number from 1 to 99999\.$/],
  ['history close-day 2026-11-20', 4, /^Job 'close-day' has no run for '2026-11-20'\./],
  ['calendar x --scope y', 2, /^cronlatch calendar is gone\. Use cronlatch history JOB, or the dashboard\.$/],
  ['explain x', 2, /^cronlatch explain is gone\. Use cronlatch why JOB --at WHEN\.$/],
  ['why x', 2, /^There is no job 'x'\./],
  ['missed x', 2, /^cronlatch missed is gone\. Use cronlatch history JOB --missed\.$/],
  ['hold x', 2, /^cronlatch hold is gone\. Use cronlatch pause --lock NAME\.$/],
  ['unhold x', 2, /^cronlatch unhold is gone\. Use cronlatch resume --lock NAME\.$/],
  ['backfill x', 2, /^cronlatch backfill is gone\. Use cronlatch run JOB --from DATE --to DATE\.$/],
  [`${MISSED} --from 2026-02-30`, 2, /^--from is "2026-02-30", which is not a date of the calendar: /],
  [`${MISSED} --from yesterday`, 2, /^--from is "yesterday": write a date, as in 2026-11-20, or an instant /],
  ['why close-day --at 2026-11-20T03:00', 2, /^--at is "2026-11-20T03:00": write a date, .+ with its offset/],
  ['why with-calendar --at now', 2, /^Job 'with-calendar' has a calendar, which is code: pass --app FILE /],
  ['history by-key --missed', 2, /^Job 'by-key' has a key function, which is code: pass --app FILE /],
  ['why only-lock --at now', 2, /^Job 'only-lock' does not run once per period, so it has no periods\.$/],
  ['rerun close-day 2026-11-20 --yes', 2, /^required option '--reason <text>' not specified$/],
  [`rerun close-day 2026-11-20 --yes --reason ' '`, 2, /^--reason is " ": each act needs a text/],
  ['rerun close-day 2026-11-20 --reason why', 2, /but has no terminal\. Pass --yes\.$/],
  [`rerun close-day 2026-11-20 ${CHANGE}`, 4, /^Cannot rerun the run of .+: no such run exists\./],
  [
    `skip close-day 2026-13-01 ${CHANGE}`,
    2,
    /^"2026-13-01" is not the key of a period of the kind 'day' in UTC\.$/,
  ],
  [`skip close-dya 2026-11-20 ${CHANGE}`, 2, /Did you mean 'close-day'\?$/],
  [
    `resolve close-day 2026-11-20 --as done ${CHANGE}`,
    2,
    /Allowed choices are completed, failed, pending\.$/,
  ],
  [`run close-day --from 2026-11-20 --to x ${CHANGE}`, 2, /^--to is "x", which is not a date/],
  [
    `run close-day --from 2026-11-01 --to 2026-11-02 ${CHANGE}`,
    4,
    /^Cannot add runs of job 'close-day' so far back: it has no recorded run\. .+ Pass --force /,
  ],
  [`run close-day --from 2026-11-20 ${CHANGE}`, 2, /^--to is missing\.$/],
  [`pause ${CHANGE}`, 2, /^Name either a job, or a lock with lock\.$/],
  [
    `pause close-day --until soon ${CHANGE}`,
    2,
    /^--until is "soon": use an instant .+, or a duration such as 2h\.$/,
  ],
  [`resume close-day ${CHANGE}`, 4, /^Lock 'close-day' is not paused: it is free\.$/],
  [`purge --older-than soon ${CHANGE}`, 2, /^--older-than is "soon", which is not a duration/],
  ['status --tolerance -1', 2, /^--tolerance is "-1", which is not a duration/],
  ['status --app app.js', 2, /^There is no file .+app\.js\. Check the path after --app\.$/],
];

testOperated('a wrong call ends with one line and the right exit code', async ({ guard, call }) => {
  await register(
    guard,
    dailyJob('close-day'),
    dailyJob('with-calendar', { hasCalendar: true }),
    dailyJob('by-key', { kind: 'custom' }),
    dailyJob('only-lock', { kind: 'lock', timeZone: undefined }),
  );
  for (const [args, status, line] of REFUSED) {
    const ended = await call(args);
    assert.equal(ended.status, status, args);
    assert.match(errorLines(ended).join('\n'), line, args);
  }
});

testOperated('without its tables, a command names the table that is missing', async ({ call, query }) => {
  for (const table of ['cronlatch_job', 'cronlatch_run_event', 'shedlock'])
    await query(`DROP TABLE ${table}`);
  const jobs = await call('jobs');
  assert.equal(jobs.status, 2);
  assert.match(
    errorLines(jobs)[0] ?? '',
    /^This database has no register of jobs\. Create it with cronlatch init\./,
  );
  for (const [args, table] of [
    ['status', 'cronlatch_run_event'],
    ['history x', 'cronlatch_run_event'],
    ['locks', 'shedlock'],
  ] as const) {
    const ended = await call(args);
    assert.equal(ended.status, 1);
    assert.match(
      errorLines(ended).join('\n'),
      new RegExp(`^Table '${table}' .+ is missing, .+ npx cronlatch init`),
    );
  }
  assert.match(
    errorLines(await call('history x --missed'))[0] ?? '',
    /has no register of jobs\. .+ pass --app FILE\.$/,
  );
});

testInFolder('a database that cannot be reached is named in one line', async (cwd) => {
  for (const server of SERVER_NAMES) {
    const ended = await cronlatch(
      ['locks', '--url', `${server}://u:${SECRET}@127.0.0.1:1/app`, '--verbose'],
      { cwd },
    );
    assert.deepEqual([ended.status, ended.stdout], [1, '']);
    const [line = '', ...stack] = ended.stderr.split('\n');
    assert.match(
      line,
      /^cronlatch: Cannot reach .+ at 127\.0\.0\.1:1: nothing listens there \(.*ECONNREFUSED/,
    );
    assert.ok(stack.some((each) => each.startsWith('    at ')));
    assert.ok(stack.some((each) => each.startsWith('Caused by: ')));
    assert.ok(!ended.stderr.includes(SECRET));
  }
});

/** Files after `--app` that export no usable guard. */
const UNUSABLE: Readonly<Record<string, readonly [text: string, status: number, line: RegExp]>> = {
  'none.cjs': ['exports.guard = 1;', 2, /none\.cjs exports no job guard\. Export exactly one\.$/],
  'throws.cjs': [
    `exports.guard = Promise.reject(new Error('no mysql://u:${SECRET}@h/x'));`,
    1,
    /^Could not load .+throws\.cjs: no \*\*\*$/,
  ],
  'away.cjs': [
    `exports.guard = require(${SQLITE}).createJobGuard('sqlite:none.db');`,
    1,
    /none\.db\): the file does not exist\./,
  ],
  'app.ts': [
    'enum Kind { Guard }\nexport const guard = Kind.Guard;',
    2,
    /app\.ts: .+ Compile it, and pass the JavaScript file\.$/,
  ],
};

testInFolder('an --app file without a usable guard is refused in one line', async (cwd) => {
  for (const [file, [text, status, line]] of Object.entries(UNUSABLE)) {
    writeFileSync(join(cwd, file), text);
    const ended = await cronlatch(['locks', '--app', file], { cwd });
    assert.deepEqual([ended.status, ended.stdout], [status, ''], file);
    assert.match(errorLines(ended).join('\n'), line);
  }
  const both = await cronlatch(['locks', '--app', 'a.cjs', '--url', `mysql://u:${SECRET}@h/x`], { cwd });
  assert.deepEqual(errorLines(both), [`option '--app <file>' cannot be used with option '--url <url>'`]);
});
