/**
 * npm test [part of a path …]: installs, builds, brings real servers up, runs the tests against the built library, and
 * ends the servers. Coverage is measured, and its thresholds hold, when all tests run.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { statusOf } from './run.mjs';
import { buildLibrary, buildTests, install } from './set-up.mjs';

const SERVERS = ['mysql'];
/** These use decorators, so they run in both compilations. */
const IN_BOTH_MODES = ['decorator', 'integrations', 'testing', 'examples', 'readme'];
const parts = process.argv.slice(2);

await install();
const { startServers } = await import('../test/support/servers/index.mjs');
const required = (process.env.CRONLATCH_REQUIRE ?? '').split(',').filter(Boolean);
const starting = startServers(SERVERS, { required });
starting.catch(() => {}); // Awaited below.
await buildLibrary();
await buildTests();

let servers;
try {
  servers = await starting;
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'cronlatch-test-'));
const skips = join(folder, 'skips');
writeFileSync(skips, '');
let status = 1;
try {
  status = await statusOf(process.execPath, commandLine(), { env: environment() });
} finally {
  await servers.stop();
  report();
  rmSync(folder, { recursive: true });
}
process.exit(status);

function commandLine() {
  const test = [
    '--enable-source-maps',
    '--test',
    '--test-concurrency=3',
    '--test-reporter=spec',
    ...testFiles(),
  ];
  return parts.length > 0 ? test : ['node_modules/c8/bin/c8.js', process.execPath, ...test];
}

function testFiles() {
  const files = [
    ...testFilesBelow('.build/legacy/test'),
    ...testFilesBelow('.build/standard/test').filter(isForBothModes),
  ];
  const wanted = files.filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)));
  if (wanted.length > 0) return wanted;
  console.error(`No test file matches ${parts.join(', ')}.`);
  process.exit(1);
}

/** Compiled tests whose source is still there. */
function testFilesBelow(folder) {
  const sources = readdirSync('test', { recursive: true }).filter((name) => name.endsWith('.test.ts'));
  return sources.map((name) => join(folder, name.replace(/ts$/, 'js'))).filter((file) => existsSync(file));
}

function isForBothModes(file) {
  return IN_BOTH_MODES.some((name) => file.includes(join('test', name)));
}

function environment() {
  const running = servers.running.map(({ name, url, version, origin }) => ({ name, url, version, origin }));
  return { ...process.env, CRONLATCH_TEST_SERVERS: JSON.stringify(running), CRONLATCH_TEST_SKIPS: skips };
}

/** The last lines: against what the tests ran, and what did not run. */
function report() {
  for (const { name, version, origin } of servers.running)
    console.log(`server: ${name} ${version} (${origin})`);
  const skipped = readFileSync(skips, 'utf8').split('\n').filter(Boolean);
  for (const needed of new Set(skipped)) {
    const count = skipped.filter((line) => line === needed).length;
    const { reasons = [] } = servers.missing.find(({ name }) => name === needed) ?? {};
    console.log([`SKIPPED: ${count} tests, because there is no ${needed}`, ...reasons].join('\n  '));
  }
  if (skipped.length === 0) console.log('nothing skipped');
}
