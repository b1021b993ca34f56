// More of this subject: faults/cli, faults/package/command-line.test.ts, docs/command-line.test.ts
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { flagOf } from '#cronlatch/cli/failure';
import { ACTS } from '#cronlatch/operations/acts/index';
import { cronlatch, errorLines, testInFolder } from './cronlatch';
import { testOperated } from './operated';
import { dailyJob, register } from './year-of-runs';

const SECRET = 'top-secret';

/** Wrong calls and the line that each ends with. None of them needs a server. */
const WRONG: (readonly [args: readonly string[], line: RegExp])[] = [
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
    /^--tables is "locks": use lock, ledger, jobs, operations and row-lock, separated by commas\.$/,
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
  [['skip', 'bill', '--reason', 'why'], /^missing required argument 'period'$/],
];

/** Each act, with all that it requires but a reason. */
for (const { verb, operands, fields } of ACTS.values()) {
  const required = fields.filter((field) => field.required);
  const call = [verb, ...(operands.match(/\w+/g) ?? []), '--reason', 'why'];
  const whole = [...call, ...required.flatMap(({ name, choices }) => [flagOf(name), choices?.[0] ?? '1d'])];
  WRONG.push(
    [whole.filter((word) => word !== '--reason' && word !== 'why'), /^required option '--reason <text>' not/],
    ...required.map(({ name }) => [call, new RegExp(`^required option '${flagOf(name)} <`)] as const),
    [[...whole, '--reason', ' ', '--yes'], /^--reason is " ": each act needs a text of 1 to 500 characters/],
    [
      [...whole, '--reason', 'x'.repeat(501)],
      /^--reason is .+: each act needs a text of 1 to 500 characters/,
    ],
    [[...whole, '--actor', 'a'.repeat(129)], /^--actor is .+: each act needs a text of 1 to 128 characters/],
    [whole, /^This command asks before it changes anything, but has no terminal\. Pass --yes\.$/],
  );
}

for (const [args, line] of WRONG)
  testInFolder(
    `cronlatch ${args.join(' ').slice(0, 99)} is refused as wrong usage, in one line`,
    async (cwd) => {
      const ended = await cronlatch(args, { cwd });
      assert.equal(ended.status, 2);
      assert.equal(ended.stdout, '');
      const lines = errorLines(ended);
      assert.equal(lines.length, 1);
      assert.match(lines[0] ?? '', line);
      assert.ok(!ended.stderr.includes(SECRET));
    },
  );

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

void test('the help shows each command in a group, and the own options of a command before the common ones', async () => {
  const { stdout } = await cronlatch(['--help']);
  const groups = stdout.split(/\n(?=[A-Z][a-z ]+:\n)/).slice(2);
  assert.deepEqual(
    groups.map((group) => group.split(':', 1)[0]),
    ['Look', 'Act', 'Set up', 'Run', 'More', 'Examples'],
  );
  assert.match(groups[0] ?? '', /^ {2}status .+\n(.+\n)*? {2}why /m);
  assert.equal(groups[4]?.trim(), 'More:\n  help [command]                    display help for command');
  const ofRerun = (await cronlatch(['rerun', '--help'])).stdout;
  assert.match(ofRerun, /Options:\n {2}--reason (.+\n)+\nCommon options:\n {2}--url (.+\n)+ {2}--verbose /);
});

/** What bash offers for the last of these words. */
function offeredByBash(script: string, words: string, env: Readonly<Record<string, string>> = {}): string[] {
  const call = `COMP_WORDS=(${words}); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _cronlatch; echo "\${COMPREPLY[*]}"`;
  const all = { ...process.env, DATABASE_URL: '', ...env };
  return execFileSync('bash', ['-c', `${script}\n${call}`], { encoding: 'utf8', env: all })
    .trim()
    .split(' ');
}

void test('bash completes commands, options and their values', async () => {
  const { stdout } = await cronlatch(['completion', 'bash']);
  assert.deepEqual(offeredByBash(stdout, 'cronlatch re').sort(), ['release', 'rerun', 'resolve', 'resume']);
  assert.deepEqual(offeredByBash(stdout, 'cronlatch status --c'), ['--check']);
  assert.deepEqual(offeredByBash(stdout, 'cronlatch resolve job --as c'), ['completed']);
  assert.ok(offeredByBash(stdout, `cronlatch rerun ''`).includes('--verbose'));
  assert.deepEqual(offeredByBash(stdout, 'cronlatch status -d ./'), ['']);
});

testOperated('bash completes the names of jobs, and no name can be a command', async ({ guard, url }) => {
  for (const name of ['close-day', 'close-month', '$(touch x)', 'a job', 'bill'])
    await register(guard, dailyJob(name));
  const { stdout } = await cronlatch(['completion', 'bash']);
  const call = `cronlatch() { '${process.execPath}' dist/cli/main.js "$@"; }`;
  const offered = (words: string, of = url): string[] =>
    offeredByBash(`${stdout}\n${call}`, words, { DATABASE_URL: of });
  assert.deepEqual(offered('cronlatch why close-').sort(), ['close-day', 'close-month']);
  assert.deepEqual(offered('cronlatch history b'), ['bill']);
  for (const words of ['cronlatch locks b', 'cronlatch why bill b', 'cronlatch why a'])
    assert.deepEqual(offered(words), [''], words);
  assert.deepEqual(offered('cronlatch why b', 'sqlite:missing.db'), ['']);
});

void test('the names of jobs are printed within a second, or nothing is', async () => {
  // A server that accepts a connection, and never answers.
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const silent = `postgres://app:${SECRET}@127.0.0.1:${port}/app`;
  for (const url of ['', 'nothing', 'sqlite:missing.db', silent]) {
    const startedMs = performance.now();
    const ended = await cronlatch(['completion', '--names'], { env: { DATABASE_URL: url }, input: '' });
    assert.deepEqual([ended.status, ended.stdout, ended.stderr], [0, '', ''], url);
    assert.ok(performance.now() - startedMs < 10_000, 'and not after the 30 s of the driver');
  }
  server.close();
  const ended = await cronlatch(['completion']);
  assert.deepEqual(
    [ended.status, errorLines(ended)],
    [2, ['Name your shell: bash, zsh, fish, as in cronlatch completion bash']],
  );
});

void test('zsh and fish also show what commands and options do', async () => {
  const zsh = (await cronlatch(['completion', 'zsh'])).stdout;
  assert.ok(zsh.includes(`\n  [[ $after == '' ]] && found+=('locks:list the locks and their holders')\n`));
  assert.ok(
    zsh.includes(
      `\n  [[ $after == 'run' ]] && found+=('--force:add runs before the job'\\''s first recorded run, too')\n`,
    ),
  );
  const fish = (await cronlatch(['completion', 'fish'])).stdout.split('\n');
  const [command, option] = ['__fish_use_subcommand -f', `'__fish_seen_subcommand_from locks'`];
  assert.ok(
    fish.includes(`complete -c cronlatch -n ${command} -a locks -d 'list the locks and their holders'`),
  );
  assert.ok(fish.includes(`complete -c cronlatch -n ${option} -a --json -d 'print JSON'`));
  for (const script of [zsh, fish.join('\n')])
    assert.match(script, / why .*\(cronlatch completion --names 2>/);
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
