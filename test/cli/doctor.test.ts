// More of this subject: cli/examination.test.ts, storage/sql/doctor, faults/storage/sql/doctor.test.ts, docs/doctor.test.ts
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cronlatch, errorLines, testInFolder } from './cronlatch';

const DIST = JSON.stringify(resolve('dist'));
const TYPEORM = JSON.stringify(resolve('node_modules/typeorm/index.js'));

/** A file of an application that has its own stores, on the file jobs.db. */
function exporting(guard: string): string {
  return `const { createJobGuard } = require(${DIST} + '/integrations/better-sqlite3');
    const { InMemoryLockProvider } = require(${DIST} + '/integrations/memory');
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

testInFolder('a file that cannot be opened is reported in one line, with the reason', async (cwd) => {
  writeFileSync(join(cwd, 'text.txt'), 'no database'.repeat(1000));
  writeFileSync(
    join(cwd, 'app.cjs'),
    `const { DataSource } = require(${TYPEORM});
     module.exports = new DataSource({ type: 'better-sqlite3', database: 'missing.db' });`,
  );
  const reasons = [
    [
      '--url',
      'sqlite:missing.db',
      'the file does not exist. Create it with npx cronlatch init, or correct its path.',
    ],
    [
      '-d',
      'app.cjs',
      'unable to open database file. Check that the file exists, and that this user may read and write it.',
    ],
    ['--url', 'sqlite:text.txt', 'file is not a database.'],
  ] as const;
  for (const [option, value, reason] of reasons)
    for (const command of ['doctor', 'status']) {
      const ended = await cronlatch([command, option, value], { cwd });
      assert.deepEqual([ended.status, ended.stdout], [1, '']);
      const [line = '', ...more] = errorLines(ended);
      assert.deepEqual([line.replace(/^Cannot open SQLite \(.+?\): /, ''), more], [reason, []]);
    }
});

testInFolder(
  'a server of a DataSource that cannot be reached is named, without its password',
  async (cwd) => {
    writeFileSync(
      join(cwd, 'app.cjs'),
      `const { DataSource } = require(${TYPEORM});
     const address = { host: '127.0.0.1', port: 1, username: 'app', password: 'top-secret', database: 'x' };
     module.exports = new DataSource({ type: 'mysql', ...address });`,
    );
    const [line = '', ...more] = errorLines(await cronlatch(['doctor', '-d', 'app.cjs'], { cwd }));
    assert.match(line, /^Cannot reach MySQL at 127\.0\.0\.1:1: nothing listens there \(.*ECONNREFUSED/);
    assert.deepEqual([line.includes('top-secret'), more], [false, []]);
  },
);

testInFolder('without tables, each command shows once what creates them', async (cwd) => {
  const { default: Database } = await import('better-sqlite3');
  new Database(join(cwd, 'jobs.db')).exec('CREATE TABLE of_the_application (id)').close();
  for (const command of [
    ['doctor'],
    ['status'],
    ['locks'],
    ['purge', '--older-than', '1d', '--reason', 'x', '--yes'],
  ]) {
    const ended = await cronlatch([...command, '--url', 'sqlite:jobs.db'], { cwd });
    assert.equal(ended.status, 1);
    const ways = `${ended.stdout}${ended.stderr}`.match(/npx cronlatch init|createTables|[Mm]igration/g);
    assert.deepEqual(ways, ['npx cronlatch init'], command[0]);
  }
});
