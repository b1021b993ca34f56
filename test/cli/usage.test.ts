import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cronlatch, errorLines, testInFolder } from './cronlatch';

const SECRET = 'top-secret';

/** Wrong calls and the line that each ends with. None of them needs a server. */
const WRONG: readonly (readonly [args: readonly string[], line: RegExp])[] = [
  [['init'], /^No database was given\. Set DATABASE_URL, or pass --url URL or -d FILE\.$/],
  [
    ['init', '--url', 'sqlite:a.db', '-d', 'a.js'],
    /^option '--url <url>' cannot be used with option '-d, --data-source <file>'$/,
  ],
  [
    ['init', '--url', `oracle://u:${SECRET}@h/x`],
    /^The address of the database must begin with one of mysql:\/\/, /,
  ],
  [['init', '--url', `u:${SECRET}@h/x`], /^The address of the database must begin with one of/],
  [['init', '--url', `mysql://u:${SECRET}#@h/x`], /^cronlatch\/mysql2 cannot parse its address\./],
  [['init', '--url', `postgres://u:${SECRET}%zz@h/x`], /^cronlatch\/pg cannot parse its address\./],
  [['init', '--url', `mysql://u:${SECRET}@h`], /^The address for cronlatch\/mysql2 names no database\./],
  [['init', '--url', 'sqlite::memory:'], /in memory/],
  [['init', '--url', 'sqlite://a.db'], / Write sqlite:jobs\.db for a file in the working directory, /],
  [['init', '--url', 'sqlite:'], /^cronlatch\/better-sqlite3 needs an address that begins with sqlite:/],
  [['init', `mysql://u:${SECRET}@h/x`], /^too many arguments for 'init'\./],
  [[`mysql://u:${SECRET}@h/x`], /^unknown command '\*\*\*'$/],
  [['init', `--ulr=mysql://u:${SECRET} '@h/x`], /^unknown option '--ulr=\*\*\*'/],
  [
    ['init', '--tables', 'locks'],
    /^--tables is "locks": use lock, ledger, jobs and row-lock, separated by commas\.$/,
  ],
  [['init', '--url', 'sqlite:a.db', '--lock-table', 'a b'], /^lockTable is "a b": an identifier has/],
  [['init', '-d', 'missing.js'], /^There is no file .+missing\.js\. Check the path after -d\.$/],
  [['init', '-d', `mysql://u:${SECRET}@h/x`], /^-d needs a JavaScript file, but got an address\.$/],
  [['status', '--app', `mysql://u:${SECRET}@h/x`], /^--app needs a JavaScript file, but got an address\.$/],
  [['sql'], /^required option '--dialect <name>' not specified$/],
  [
    ['sql', '--dialect', 'oracle'],
    /^option '--dialect <name>' argument 'oracle' is invalid\. Allowed choices are mysql, /,
  ],
  [['sql', '--dialect', 'mysql', '--run-table', 'a-b'], /^runTable is "a-b": an identifier has/],
];

for (const [args, line] of WRONG)
  testInFolder(`cronlatch ${args.join(' ')} is refused as wrong usage, in one line`, async (cwd) => {
    const ended = await cronlatch(args, { cwd });
    assert.equal(ended.status, 2);
    assert.equal(ended.stdout, '');
    const lines = errorLines(ended);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', line);
    assert.ok(!ended.stderr.includes(SECRET));
  });

void test('help and version end with 0, and a call without a command shows the help', async () => {
  for (const args of [['--help'], ['init', '--help'], ['--version']]) {
    const ended = await cronlatch(args);
    assert.deepEqual([ended.status, ended.stderr], [0, '']);
    assert.ok(ended.stdout.length > 4);
  }
  const ended = await cronlatch([]);
  assert.deepEqual([ended.status, ended.stdout], [2, '']);
  assert.match(ended.stderr, /^Usage: cronlatch /);
});

for (const [driver, url] of [
  ['mysql2', `mysql://u:${SECRET}@localhost/x`],
  ['mysql2', `mariadb://u:${SECRET}@localhost/x`],
  ['pg', `postgresql://u:${SECRET}@localhost/x`],
  ['better-sqlite3', 'sqlite:jobs.db'],
] as const)
  testInFolder(`init names the driver that ${url.replace(SECRET, 'p')} needs`, async (cwd) => {
    const ended = await cronlatch(['init', '--url', url], { cwd, hook: 'without-drivers.cjs' });
    assert.deepEqual(
      [ended.status, ended.stdout, errorLines(ended)],
      [1, '', [`cronlatch/${driver} needs the package '${driver}': npm install ${driver}`]],
    );
  });

void test('sql needs no driver', async () => {
  for (const dialect of ['mysql', 'mariadb', 'postgres', 'sqlite']) {
    const ended = await cronlatch(['sql', '--dialect', dialect], { hook: 'without-drivers.cjs' });
    assert.deepEqual([ended.status, ended.stderr], [0, '']);
    assert.match(ended.stdout, /^CREATE TABLE IF NOT EXISTS \S?shedlock/);
  }
});

void test('sql prints the tables that are selected, with their names', async () => {
  const named = ['--schema', 'app', '--run-table', 'my_runs'];
  const { stdout } = await cronlatch(['sql', '--dialect', 'postgres', '--tables', 'ledger', ...named]);
  const tables = [...stdout.matchAll(/^CREATE TABLE IF NOT EXISTS (\S+)/gm)].map(([, table]) => table);
  assert.deepEqual(tables, ['"app"."my_runs"', '"app"."my_runs_event"']);
});
