import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { BUNDLERS, type BundleOptions, type Bundler } from '../../package/bundlers';
import { Project } from '../../package/project';
import { pack } from '../../package/tarball';

const OVER_MEMORY = `
import * as cronlatch from 'cronlatch';
import { createJobGuard, Memory } from 'cronlatch/memory';
import { scheduleLocked } from 'cronlatch/node-cron';

const guard = createJobGuard(new Memory(), { logger: false });
const job = { name: 'close-day', lockAtMostFor: '1m', oncePer: { period: 'day', timeZone: 'UTC' } };
const task = scheduleLocked('0 3 * * *', job, () => 'ran', { guard });
const ended = (async () => {
  console.log(await task.execute());
  for (const [name, type] of Object.entries(cronlatch))
    if (name.endsWith('Error') && new type('why').name !== name) console.log(name);
  await guard.close();
})();
ended.catch((error) => { console.log(error); process.exitCode = 1; });
`;

const OVER_SQLITE = `
import 'better-sqlite3';
import { DataSource } from 'typeorm';
import { createCronlatchMigration, createJobGuard } from 'cronlatch/typeorm';

const dataSource = new DataSource({
  type: 'better-sqlite3', database: process.argv[1] + '.sqlite', enableWAL: true, migrationsRun: true,
  migrations: [['lock'], ['ledger']].map((tables) => createCronlatchMigration({ tables })),
});
const ended = (async () => {
  await dataSource.initialize();
  const guard = await createJobGuard(dataSource, { logger: false });
  const job = { name: 'close-day', lockAtMostFor: '1m', oncePer: { period: 'day', timeZone: 'UTC' } };
  console.log((await guard.run(job, () => 'ran')).value);
  await guard.close();
  await dataSource.destroy();
})();
ended.catch((error) => { console.log(error); process.exitCode = 1; });
`;

const application = new Project();
/** A folder in which no package is installed. */
const elsewhere = new Project();

before(async () => {
  await application.install((await pack()).file);
  for (const name of ['node-cron', 'typeorm', 'better-sqlite3', 'reflect-metadata']) application.link(name);
});
after(() => {
  application[Symbol.dispose]();
  elsewhere[Symbol.dispose]();
});

/** The same application for `require`. */
const common = (text: string): string =>
  text
    .replaceAll(/^import \* as (\w+) from '(.+)';$/gm, `const $1 = require('$2');`)
    .replaceAll(/^import (\{[^}]+\}) from '(.+)';$/gm, `const $1 = require('$2');`)
    .replaceAll(/^import '(.+)';$/gm, `require('$1');`);

let bundles = 0;
async function bundled(bundler: Bundler, text: string, options: BundleOptions): Promise<string> {
  const extension = options.format === 'esm' ? 'mjs' : 'cjs';
  const [entry, file] = [`application-${(bundles += 1)}.${extension}`, `bundled/${bundles}.${extension}`];
  application.write(entry, options.format === 'esm' ? text : common(text));
  await bundler.bundle(application, entry, file, options);
  return `${application.folder}/${file}`;
}

for (const bundler of BUNDLERS) {
  for (const format of ['esm', 'cjs'] as const) {
    for (const minify of [false, true]) {
      const what = `${bundler.name}, ${format}${minify ? ', minified' : ''}`;

      void test(`${what}: a bundle runs its job without any package, and errors keep their names (F-95)`, async () => {
        const file = await bundled(bundler, OVER_MEMORY, { format, minify, external: [] });
        const { stdout, stderr } = await elsewhere.node(file);
        assert.deepEqual([stdout, stderr], ['ran\n', '']);
      });

      void test(`${what}: a bundle runs its job with packages that it loads from node_modules`, async () => {
        const external = ['node-cron'];
        const file = await bundled(bundler, OVER_MEMORY, { format, minify, external });
        const { stdout, stderr } = await application.node(file);
        assert.deepEqual([stdout, stderr], ['ran\n', '']);
      });

      void test(`${what}: a bundle over TypeORM and SQLite runs its job`, async () => {
        const external = ['typeorm', 'better-sqlite3'];
        const file = await bundled(bundler, OVER_SQLITE, { format, minify, external });
        const { stdout, stderr } = await application.node(file);
        assert.deepEqual([stdout, stderr], ['ran\n', '']);
      });
    }
  }

  void test(`${bundler.name}: without a package that the bundle loads, the error names the package to install`, async () => {
    const options = { format: 'cjs', minify: true, external: ['node-cron'] } as const;
    const file = await bundled(bundler, OVER_MEMORY, options);
    elsewhere.write('alone.cjs', readFileSync(file, 'utf8'));
    // Before an error that no code catches, Node prints its line, and cuts what a pipe cannot take at once: here, a bundle.
    const catching = `try { require('./alone.cjs'); } catch ({ message }) { console.log(message); }`;
    const { stdout } = await elsewhere.node('-e', catching);
    assert.match(stdout, /cronlatch\/node-cron needs the package 'node-cron': npm install node-cron/);
  });
}
