/**
 * npm test: installs, builds, starts real servers, runs the tests against the built library, and ends the servers.
 * npm run test:faults (--faults) runs those that npm test leaves out, because they take long, and a third of those that
 * few changes reach. Both run any file whose path contains one of the given parts. If CRONLATCH_COVERAGE names a folder,
 * the test files and their child processes write their coverage there.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { ADAPTER_PROJECTS, adapterTests, buildAdapters } from './adapters.mjs';
import { buildBeside, OTHER_PEERS, testsBeside } from './other-peers.mjs';
import { buildLibrary, buildTests, install } from './set-up.mjs';
import { runTestFiles } from './test-files.mjs';

const SERVERS = ['mysql', 'mariadb', 'postgres', 'redis', 'zookeeper', 'etcd'];
const isFull = process.env.CRONLATCH_FULL === '1';
const LONGEST_FILE_MINUTES = isFull ? 60 : 20;
const args = process.argv.slice(2);
const wantsFaults = args.includes('--faults');
const parts = args.filter((arg) => arg !== '--faults');
/**
 * Tests that kill, stall, wait for minutes, try every isolation level, or compile for many kinds of projects.
 */
const FAULTS = join('test', 'faults');
/**
 * Campaigns, packages for other tools and compilers. The tree of the commit chooses which of them run, so that a commit
 * always runs the same ones. npm run test:full runs all.
 */
const FAR = ['campaign', 'package', 'torture', 'types'].map((room) => join(FAULTS, room));
const [tree] = spawnSync('git', ['rev-parse', 'HEAD^{tree}'], { encoding: 'utf8' }).stdout?.split('\n') ?? [];
const coverage = process.env.CRONLATCH_COVERAGE;

await install();
const { startServers } = await import('../test/support/servers/index.mjs');
const { guard } = await import('../test/support/servers/process/guard.mjs');
const { bringFaketime } = await import('../test/support/servers/tools/faketime.mjs');
const required = (process.env.CRONLATCH_REQUIRE ?? '').split(',').filter(Boolean);
const folder = mkdtempSync(join(tmpdir(), 'cronlatch-test-'));
const letGo = guard({ folder });
process.env.CRONLATCH_SERVER_DATA = join(folder, 'server-data');
const starting = startServers(SERVERS, { required, hasty: true });
const bringingFaketime = bringFaketime();
starting.catch(() => {}); // Awaited below.
await buildLibrary();
await buildTests();
for (const peers of OTHER_PEERS) if (filesBeside(peers).some(isWanted)) await buildBeside(peers);
for (const project of ADAPTER_PROJECTS)
  if (filesOfAdapters(project).some(isWanted)) await buildAdapters(project);

let servers;
const faketime = await bringingFaketime;
try {
  servers = await starting;
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const skips = join(folder, 'skips');
writeFileSync(skips, '');
let leftOut = 0;
let notChosen = [];
let passed = false;
try {
  passed = await runTestFiles(testFiles(), {
    env: environment(),
    longestMinutes: LONGEST_FILE_MINUTES,
    verbose: parts.length > 0,
  });
} finally {
  await servers.stop();
  report();
  rmSync(folder, { recursive: true });
  letGo();
}
process.exit(passed ? 0 : 1);

function testFiles() {
  const files = [
    ...testFilesBelow('.build/legacy/test').filter(existsSync),
    ...testFilesBelow('.build/standard/test').filter(existsSync).filter(isCompiledTwice),
    ...OTHER_PEERS.flatMap(filesBeside),
    ...ADAPTER_PROJECTS.flatMap(filesOfAdapters),
  ];
  const wanted = files.filter(isWanted);
  if (parts.length === 0 && !isFull) notChosen = twoThirds(wanted.filter(isFar));
  leftOut = files.length - wanted.length;
  if (wanted.length > 0) return wanted.filter((file) => !notChosen.includes(file));
  console.error(`No test file matches ${parts.join(', ')}.`);
  process.exit(1);
}

function isWanted(file) {
  if (parts.length > 0) return parts.some((part) => file.includes(part));
  return isFull || isForFaults(file) === wantsFaults;
}

function isFar(file) {
  return FAR.some((room) => file.includes(room));
}

/** The files that the tree of the commit does not choose. Without a repository, it chooses all. */
function twoThirds(files) {
  const hashOf = (file) => createHash('sha256').update(`${tree} ${file}`).digest('hex');
  return tree
    ? files.toSorted((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1)).slice(Math.ceil(files.length / 3))
    : [];
}

function isForFaults(file) {
  if (ADAPTER_PROJECTS.some((project) => file.startsWith(adapterTests(project)))) return true;
  const peers = OTHER_PEERS.find((each) => file.startsWith(testsBeside(each)));
  if (peers === undefined) return file.includes(FAULTS);
  return !peers.smoke.some((path) => file.startsWith(join(testsBeside(peers), path)));
}

/** The tests that run beside other packages, whether or not they are copied there yet. */
function filesBeside(peers) {
  const folder = testsBeside(peers);
  return testFilesBelow(folder).filter((file) =>
    peers.tests.some((path) => file.startsWith(join(folder, path))),
  );
}

/** The tests of the query builders, whether or not they are compiled yet. */
function filesOfAdapters(project) {
  const folder = adapterTests(project);
  return testFilesBelow(folder).filter((file) => file.startsWith(join(folder, 'adapters', project)));
}

/** The compiled tests, by the sources that exist. */
function testFilesBelow(folder) {
  const sources = readdirSync('test', { recursive: true }).filter((name) => name.endsWith('.test.ts'));
  return sources.map((name) => join(folder, name.replace(/ts$/, 'js')));
}

/**
 * Files that can depend on the kind of decorators. Others in that folder were compiled for an earlier version
 * of this list.
 */
function isCompiledTwice(file) {
  const { include } = JSON.parse(readFileSync('test/tsconfig.standard.json', 'utf8'));
  const source = relative('.build/standard/test', file).replace(/js$/, 'ts');
  return include.some((path) => source.startsWith(join(path)));
}

function environment() {
  const running = servers.running.map(({ name, url, version, origin }) => ({ name, url, version, origin }));
  return {
    ...process.env,
    ...(coverage === undefined ? {} : { NODE_V8_COVERAGE: resolve(coverage) }),
    CRONLATCH_TEST_SERVERS: JSON.stringify(running),
    CRONLATCH_TEST_SKIPS: skips,
    ...('file' in faketime ? { CRONLATCH_TEST_FAKETIME: faketime.file } : {}),
  };
}

/** The last lines: the servers of the tests, and the tests that did not run. */
function report() {
  if (parts.length === 0 && leftOut > 0)
    console.log(
      `left out: ${leftOut} files, for npm ${wantsFaults ? 'test and npm run test:full' : 'run test:faults'}`,
    );
  for (const file of notChosen) console.log(`left out: ${file}, for npm run test:full`);
  for (const { name, version, origin } of servers.running)
    console.log(`server: ${name} ${version} (${origin})`);
  const lines = readFileSync(skips, 'utf8').split('\n');
  for (const [lack, count] of counted(lines, 'lack ')) console.log(`left out: ${count} cases on ${lack}`);
  const skipped = counted(lines, 'skip ');
  for (const [needed, count] of skipped) {
    const missing = 'missing' in faketime ? [...servers.missing, faketime.missing] : servers.missing;
    const { reasons = [] } = missing.find(({ name }) => name === needed) ?? {};
    console.log([`SKIPPED: ${count} tests, because there is no ${needed}`, ...reasons].join('\n  '));
  }
  if (skipped.size === 0) console.log('nothing skipped');
}

/** How often each line begins with this, and the rest of the line. */
function counted(lines, beginning) {
  const counts = new Map();
  for (const line of lines.filter((each) => each.startsWith(beginning))) {
    const rest = line.slice(beginning.length);
    counts.set(rest, (counts.get(rest) ?? 0) + 1);
  }
  return counts;
}
