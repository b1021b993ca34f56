import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { verifySchema } from 'cronlatch/better-sqlite3';
import { testOnEvery } from '../support/databases/fresh';
import { cronlatch, errorLines, testInFolder } from './cronlatch';

const ORMCONFIG = resolve('.build/legacy/ormconfig.js');
const TYPEORM = JSON.stringify(resolve('node_modules/typeorm/index.js'));
const OPTIONS = `{ type: 'better-sqlite3', database: process.env.DATABASE_FILE, enableWAL: true }`;
const COMMON = `const { DataSource } = require(${TYPEORM});\n`;
const MODULE = `import typeorm from ${JSON.stringify(pathToFileURL(resolve('node_modules/typeorm/index.js')).href)};\n`;

testOnEvery('init -d creates the tables in the database of a DataSource', async ({ environment }) => {
  const first = await cronlatch(['init', '-d', ORMCONFIG], { env: environment });
  assert.deepEqual([first.status, first.stderr], [0, '']);
  assert.match(
    first.stdout,
    /\ncreated shedlock, cronlatch_run, cronlatch_run_event, cronlatch_job, cronlatch_run_act, cronlatch_run_notice, cronlatch_run_log\n$/,
  );
  const second = await cronlatch(['init', '--data-source', ORMCONFIG], { env: environment });
  assert.match(second.stdout, /\nnothing to do\n$/);
});

testOnEvery('init and status take the options of a DataSource of any database', async (database) => {
  const folder = mkdtempSync(join(tmpdir(), 'cronlatch-options-'));
  const file = join(folder, 'ormconfig.cjs');
  writeFileSync(file, `module.exports = ${JSON.stringify(database.options)};`);
  try {
    for (const command of ['init', 'status']) {
      const ended = await cronlatch([command, '-d', file], {});
      assert.deepEqual([ended.status, ended.stderr], [0, ''], command);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Files that export a DataSource in the ways that TypeORM's command line accepts, or its options. */
const FILES: Readonly<Record<string, string>> = {
  'default.cjs': `${COMMON}exports.default = new DataSource(${OPTIONS});`,
  'named.cjs': `${COMMON}exports.dataSource = new DataSource(${OPTIONS}); exports.other = 1;`,
  'whole.cjs': `${COMMON}module.exports = new DataSource(${OPTIONS});`,
  'default.mjs': `${MODULE}export default new typeorm.DataSource(${OPTIONS});`,
  'twice.mjs': `${MODULE}export const dataSource = new typeorm.DataSource(${OPTIONS}); export default dataSource;`,
  'promise.mjs': `${MODULE}export default Promise.resolve(new typeorm.DataSource(${OPTIONS}));`,
  'options.cjs': `module.exports = ${OPTIONS};`,
  'named-options.cjs': `exports.options = ${OPTIONS};`,
  'options.mjs': `export default ${OPTIONS};`,
  'both.mjs': `${MODULE}export const options = ${OPTIONS}; export default new typeorm.DataSource(options);`,
  'connected.mjs': `${MODULE}export default await new typeorm.DataSource(${OPTIONS}).initialize();`,
};

for (const [file, text] of Object.entries(FILES))
  testInFolder(`init -d takes what ${file} exports, and creates its file`, async (cwd) => {
    writeFileSync(join(cwd, file), text);
    const env = { DATABASE_FILE: join(cwd, 'jobs.db') };
    const ended = await cronlatch(['init', '-d', file], { cwd, env });
    assert.deepEqual([ended.status, ended.stderr], [0, '']);
    assert.deepEqual(await verifySchema(`sqlite:${env.DATABASE_FILE}`), []);
  });

testInFolder('init -d does not run the migrations of the application', async (cwd) => {
  const migrations = `migrations: [class Own1 { name = 'Own1'; up() { throw new Error('run'); } }], migrationsRun: true`;
  const options = OPTIONS.replace('}', `, ${migrations} }`);
  writeFileSync(join(cwd, 'a.cjs'), `${COMMON}module.exports = new DataSource(${options});`);
  writeFileSync(join(cwd, 'b.cjs'), `module.exports = ${options};`);
  for (const file of ['a.cjs', 'b.cjs']) {
    const env = { DATABASE_FILE: join(cwd, `${file}.db`) };
    const ended = await cronlatch(['init', '-d', file], { cwd, env });
    assert.deepEqual([ended.status, ended.stderr], [0, '']);
  }
});

/** Files that cannot be used, with the exit code and the line of each. */
const UNUSABLE: Readonly<Record<string, readonly [text: string, code: number, line: RegExp]>> = {
  'empty.cjs': ['exports.other = 1;', 2, /empty\.cjs exports no DataSource\. Export exactly one\.$/],
  'two.cjs': [
    `${COMMON}exports.a = new DataSource(${OPTIONS}); exports.b = new DataSource(${OPTIONS});`,
    2,
    /two\.cjs exports 2 DataSources\. Export exactly one\.$/,
  ],
  'two-options.cjs': [
    `exports.a = ${OPTIONS}; exports.b = ${OPTIONS};`,
    2,
    /two-options\.cjs exports 2 DataSources\. Export exactly one\.$/,
  ],
  'other-type.cjs': [
    `module.exports = { type: 'sap', password: 'top-secret' };`,
    2,
    /^A DataSource of type 'sap' is not supported\./,
  ],
  'memory-options.cjs': [
    `module.exports = { type: 'better-sqlite3', database: ':memory:' };`,
    2,
    /^The database is in memory, /,
  ],
  'memory.cjs': [
    `${COMMON}module.exports = new DataSource({ type: 'better-sqlite3', database: ':memory:' });`,
    2,
    /^The database is in memory, /,
  ],
  'throws.cjs': [
    `throw new Error('no connection to mysql://u:top-secret@h/x');`,
    1,
    /^Could not load .+throws\.cjs: no connection to \*\*\*$/,
  ],
  'no-package.cjs': [
    `require('package-that-is-not-there');`,
    1,
    /^Could not load .+no-package\.cjs: Cannot find module 'package-that-is-not-there'$/,
  ],
  'other.yaml': ['a: 1', 2, /^Could not load .+other\.yaml: .+ Compile it, and pass the JavaScript file\.$/],
};

for (const [file, [text, code, line]] of Object.entries(UNUSABLE))
  testInFolder(`init -d refuses ${file} in one line`, async (cwd) => {
    writeFileSync(join(cwd, file), text);
    const env = { DATABASE_FILE: join(cwd, 'jobs.db') };
    const ended = await cronlatch(['init', '-d', file], { cwd, env });
    assert.deepEqual([ended.status, ended.stdout], [code, '']);
    const lines = errorLines(ended);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', line);
    assert.ok(!existsSync(env.DATABASE_FILE));
  });

testInFolder('a rejection that a file leaves behind is reported without its stack', async (cwd) => {
  const text = `setTimeout(() => Promise.reject(new Error('late: mysql://u:top-secret@h/x')), 1); await new Promise(() => setInterval(() => {}, 1000));`;
  writeFileSync(join(cwd, 'late.mjs'), text);
  const ended = await cronlatch(['init', '-d', 'late.mjs'], { cwd });
  assert.equal(ended.status, 1);
  assert.deepEqual(errorLines(ended), ['late: ***']);
});
