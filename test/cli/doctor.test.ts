import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cronlatch, errorLines, testInFolder } from './cronlatch';

const DIST = JSON.stringify(resolve('dist'));
const TYPEORM = JSON.stringify(resolve('node_modules/typeorm/index.js'));

/** A file of an application that has its own stores, on the file jobs.db. */
function exporting(guard: string): string {
  return `const { createJobGuard } = require(${DIST} + '/integrations/better-sqlite3');
    const { InMemoryLockProvider } = require(${DIST} + '/storage/memory');
    const { JobGuard } = require(${DIST});
    module.exports = ${guard};`;
}

interface Printed {
  readonly version: number;
  readonly command: string;
  readonly findings: readonly Readonly<Record<string, unknown>>[];
}

/** Calls on a file with all tables. */
const CALLS: readonly (readonly [
  name: string,
  args: readonly string[],
  file: string,
  status: number,
  codes: string[],
])[] = [
  ['an address', ['--url', 'sqlite:jobs.db'], '', 0, ['unsynced-commit']],
  [
    'a DataSource whose connections are unsafe',
    ['-d', 'app.cjs'],
    `const { DataSource } = require(${TYPEORM});
     const prepareDatabase = (database) => database.pragma('synchronous = OFF');
     module.exports = new DataSource({ type: 'better-sqlite3', database: 'jobs.db', prepareDatabase });`,
    1,
    ['not-durable'],
  ],
  [
    'a guard with another store of locks',
    ['--app', 'app.cjs'],
    exporting(
      `createJobGuard('sqlite:jobs.db', { lockProvider: new InMemoryLockProvider(), logger: false })`,
    ),
    0,
    ['unsynced-commit'],
  ],
  [
    'a guard whose database is unknown',
    ['--app', 'app.cjs'],
    exporting('new JobGuard({ lockProvider: new InMemoryLockProvider(), logger: false })'),
    1,
    ['not-examined'],
  ],
];

for (const [name, args, file, status, codes] of CALLS)
  testInFolder(`doctor with ${name} ends with ${status}`, async (cwd) => {
    await cronlatch(['init', '--url', 'sqlite:jobs.db'], { cwd });
    writeFileSync(join(cwd, 'app.cjs'), file);
    const ended = await cronlatch(['doctor', '--json', ...args], { cwd });
    assert.deepEqual([ended.status, ended.stderr], [status, '']);
    const { version, command, findings } = JSON.parse(ended.stdout) as Printed;
    assert.deepEqual([version, command, findings.map(({ code }) => code)], [1, 'doctor', codes]);
    for (const finding of findings)
      assert.deepEqual(Object.keys(finding), ['severity', 'code', 'problem', 'fix', 'statement']);
  });

testInFolder('doctor starts no overdue run of the application whose guard it examines', async (cwd) => {
  const at = ['close-day', '2026-11-20', '--reason', 'a test', '--yes', '--url', 'sqlite:jobs.db'];
  await cronlatch(['init', '--url', 'sqlite:jobs.db'], { cwd });
  writeFileSync(
    join(cwd, 'app.cjs'),
    `const { createJobGuard } = require(${DIST} + '/integrations/better-sqlite3');
     module.exports = createJobGuard('sqlite:jobs.db', { logger: false, pollInterval: '1ms' }).then((guard) => {
       const oncePer = { period: 'day', timeZone: 'UTC', catchUp: 'all' };
       guard.wrap({ name: 'close-day', lockAtMostFor: '1m', oncePer }, () => console.log('ran'));
       return guard;
     });`,
  );
  const app = ['--app', 'app.cjs'];
  await cronlatch(['jobs', ...app], { cwd }); // Registers the job.
  for (const change of [['skip'], ['rerun', '--force']]) {
    const { status, stderr } = await cronlatch([...change, ...at], { cwd });
    assert.deepEqual([status, stderr], [0, '']);
  }
  const ended = await cronlatch(['doctor', ...app], { cwd });
  assert.deepEqual([ended.status, ended.stderr], [0, '']);
  assert.doesNotMatch(ended.stdout, /^ran$/m);
});

testInFolder('doctor on a database that cannot be reached fails in one line', async (cwd) => {
  for (const url of [
    'sqlite:missing.db',
    'mysql://u:top-secret@127.0.0.1:1/x',
    'postgres://u:top-secret@127.0.0.1:1/x',
  ]) {
    const ended = await cronlatch(['doctor', '--url', url], { cwd });
    assert.deepEqual([ended.status, ended.stdout], [1, '']);
    const lines = errorLines(ended);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /^Could not send the statement for the examination to .+: /);
    assert.doesNotMatch(lines[0] ?? '', /top-secret/);
  }
});

testInFolder('what another program wrote cannot control the terminal', async (cwd) => {
  const { default: Database } = await import('better-sqlite3');
  await cronlatch(['init', '--url', 'sqlite:jobs.db'], { cwd });
  const database = new Database(join(cwd, 'jobs.db'));
  database
    .prepare('INSERT INTO shedlock VALUES (?, ?, 0, ?, 0)')
    .run('a', Date.now() * 2000, '\u001b[2J by Ann');
  database.close();
  const ended = await cronlatch(['doctor', '--url', 'sqlite:jobs.db'], { cwd });
  assert.match(ended.stdout, /^warning unknown-owner\n {2}Lock 'a' is held by '.+ by Ann' until /m);
  assert.ok(!ended.stdout.includes('\u001b'));
});
