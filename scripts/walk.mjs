/**
 * node scripts/walk.mjs [ADDRESS]: prints the source files that a warm call passes, as V8 counted them. The address is that of
 * an empty database of MySQL or MariaDB. Without one, the calls are on SQLite in memory. The library must have been built.
 */
import { Session } from 'node:inspector/promises';
import { relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The first calls connect, verify tables, insert the row of the lock, and prepare statements. */
const WARM_UP_CALLS = 3;
const dist = resolve('dist');

const address = process.argv[2];
if (address === undefined) console.log('Without an address of MySQL, the calls are on SQLite.');
const { guard, forgetRuns, close } = await (address === undefined ? onSqlite() : onMysql(address));
const oncePer = { period: 'day', timeZone: 'UTC' };
const locked = guard.wrap({ name: 'locked', lockAtMostFor: '1m' }, () => {});
const daily = guard.wrap({ name: 'daily', lockAtMostFor: '1m', oncePer }, () => {});
try {
  await print('guard.wrap with a lock only', locked);
  await print('a once-per-day job that runs', daily, forgetRuns);
  await print('a day that is done', daily);
} finally {
  await guard.close();
  await close();
}

async function onMysql(url) {
  const { createJobGuard, createTables } = await import('cronlatch/mysql2');
  const { createConnection } = await import('mysql2/promise');
  await createTables(url);
  const connection = await createConnection(url);
  return {
    guard: await createJobGuard(url, { logger: false, pollInterval: false }),
    forgetRuns: () => connection.query('DELETE FROM cronlatch_run'),
    close: () => connection.end(),
  };
}

async function onSqlite() {
  const { createJobGuard, createTables } = await import('cronlatch/better-sqlite3');
  const { default: Database } = await import('better-sqlite3');
  const handle = new Database(':memory:');
  await createTables(handle);
  return {
    guard: await createJobGuard(handle, { logger: false, pollInterval: false }),
    forgetRuns: () => handle.exec('DELETE FROM cronlatch_run'),
    close: () => handle.close(),
  };
}

/** @param prepare is called before each call, and is not measured */
async function print(title, call, prepare = () => {}) {
  for (let warmUp = 0; warmUp < WARM_UP_CALLS; warmUp += 1) {
    await prepare();
    await call();
  }
  await prepare();
  const passed = await coverageOf(call);
  const functions = passed.reduce((sum, each) => sum + each.functions, 0);
  const calls = passed.reduce((sum, each) => sum + each.calls, 0);
  console.log(`\n${title}: ${passed.length} files, ${functions} functions, ${calls} calls`);
  for (const { file } of passed) console.log(`  ${file}`);
}

/** The source files with a function that ran during the call, those in the fewest folders first. */
async function coverageOf(call) {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage'); // It sets the counts back.
    await call();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ url }) => url.startsWith(pathToFileURL(dist + sep).href))
      .map(({ url, functions }) => {
        const counts = functions.map(({ ranges: [{ count }] }) => count).filter((count) => count > 0);
        return {
          file: sourceOf(url),
          functions: counts.length,
          calls: counts.reduce((sum, count) => sum + count, 0),
        };
      })
      .filter(({ functions }) => functions > 0)
      .sort((a, b) => depthOf(a.file) - depthOf(b.file) || (a.file < b.file ? -1 : 1));
  } finally {
    session.disconnect();
  }
}

function sourceOf(url) {
  return relative(dist, fileURLToPath(url)).replaceAll(sep, '/').replace(/js$/, 'ts');
}

function depthOf(file) {
  return file.split('/').length;
}
