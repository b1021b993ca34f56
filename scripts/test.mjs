/**
 * npm test: installs, builds, starts real servers, runs the tests against the built library, and ends the servers.
 * npm run test:faults (--faults) runs those that npm test leaves out, because they take long, and a third of those that
 * few changes reach. npm run test:all (--all) runs both, side by side. Each runs any file whose path contains one of the
 * given parts; --own leaves out those beside other packages than the project's own, and --on postgres the cases of other
 * stores. npm run test:stress runs them in
 * several rounds (--rounds) beside busy processes (--load). If CRONLATCH_COVERAGE names a folder, the files of npm test
 * and their child processes write their coverage there.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ADAPTER_PROJECTS, adapterTests, buildAdapters } from './adapters.mjs';
import { buildBeside, OTHER_PEERS, testsBeside } from './other-peers.mjs';
import { buildLibrary, buildTests, install } from './set-up.mjs';
import { runTestFiles } from './test-files.mjs';
import { hasSeveralServers } from './test-groups.mjs';
import { listOf, runRounds } from './test-stress.mjs';

const SERVERS = ['mysql', 'mariadb', 'postgres', 'redis', 'zookeeper', 'etcd'];
const isFull = process.env.CRONLATCH_FULL === '1';
const { values, positionals: parts } = parseArgs({
  allowPositionals: true,
  options: {
    faults: { type: 'boolean' },
    all: { type: 'boolean' },
    own: { type: 'boolean' },
    on: { type: 'string' },
    rounds: { type: 'string', default: '1' },
    load: { type: 'string', default: '0' },
  },
});
const STORES = ['memory', 'sqlite', ...SERVERS];
if (values.on !== undefined && !STORES.includes(values.on))
  throw new RangeError(`--on names one store: ${STORES.join(', ')}.`);
const wantedServers = values.on === undefined ? SERVERS : SERVERS.filter((name) => name === values.on);
const wantsFaults = values.faults === true || values.all === true;
const wantsTests = values.faults !== true;
const [peerSets, adapterProjects] = values.own === true ? [[], []] : [OTHER_PEERS, ADAPTER_PROJECTS];
const [rounds, load] = [values.rounds, values.load].map(Number);
if (!(rounds >= 1 && load >= 0)) throw new RangeError('--rounds must be at least 1, and --load at least 0.');
const isStress = rounds > 1 || load > 0;
const LONGEST_FILE_MINUTES = isFull || isStress ? 60 : 20;
/** The tests with standard decorators. Only those of a folder of that name belong to npm test. */
const STANDARD = join('.build', 'standard', 'test');
/**
 * Tests that kill, stall, wait for minutes, try every isolation level, or compile for many kinds of projects.
 */
const FAULTS = join('test', 'faults');
/**
 * Campaigns, examples, packages for other tools, and compilers. The tree of the commit chooses which of them run beside
 * which other packages, so that a commit always runs the same ones. npm run test:full runs all.
 */
const FAR = ['campaign', 'examples', 'package', 'types'].map((room) => join(FAULTS, room));
const [tree] = spawnSync('git', ['rev-parse', 'HEAD^{tree}'], { encoding: 'utf8' }).stdout?.split('\n') ?? [];
const coverage = process.env.CRONLATCH_COVERAGE;
/** The tests in a browser. Only they are worth its download of 100 MB. */
const IN_BROWSER = [join('test', 'dashboard'), join(FAULTS, 'dashboard')];

/** What the tree does not choose. Known when the tests are compiled. */
let notChosen = [];

await install();
const { startServers } = await import('../test/support/servers/index.mjs');
const { guard } = await import('../test/support/servers/process/guard.mjs');
const { MissingServerError } = await import('../test/support/servers/errors.mjs');
const { bringChromium } = await import('../test/support/servers/tools/chromium.mjs');
const { bringFaketime } = await import('../test/support/servers/tools/faketime.mjs');
const requirements = (process.env.CRONLATCH_REQUIRE ?? '').split(',').filter(Boolean);
const required = requirements.filter((name) => name !== 'chromium');
const folder = mkdtempSync(join(tmpdir(), 'cronlatch-test-'));
const letGo = guard({ folder });
process.env.CRONLATCH_SERVER_DATA = join(folder, 'server-data');
const starting = startServers(wantedServers, { required, hasty: true });
const bringingFaketime = bringFaketime();
const bringingChromium = testFilesBelow('.build/legacy/test').some(needsBrowser) ? bringChromium() : {};
starting.catch(() => {}); // Awaited below.
await buildLibrary();
await buildTests();
if (wantsFaults && !isFull && parts.length === 0) notChosen = twoThirds(farUnits());
for (const peers of peerSets) if (filesBeside(peers).some(isWanted)) await buildBeside(peers);
for (const project of adapterProjects)
  if (filesOfAdapters(project).some(isWanted)) await buildAdapters(project);

let servers;
const faketime = await bringingFaketime;
const chromium = await bringingChromium;
try {
  servers = await starting;
  if (chromium.missing && requirements.includes('chromium')) throw new MissingServerError([chromium.missing]);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const skips = join(folder, 'skips');
writeFileSync(skips, '');
let leftOut = 0;
let failures;
try {
  const sets = setsOfFiles();
  const options = {
    longestMinutes: LONGEST_FILE_MINUTES,
    verbose: parts.length > 0 && !isStress,
    isMeasured: !isStress,
  };
  failures = await runRounds({ rounds, load }, () => runTestFiles(sets, options), guard);
} finally {
  await servers.stop();
  report();
  rmSync(folder, { recursive: true });
  letGo();
}
if (isStress || failures.size > 0) console.log(listOf(failures, rounds));
process.exit(failures.size === 0 ? 0 : 1);

/**
 * Where a case has several servers, npm test shows it on one, and npm run test:faults on the others. All other runs show it
 * on all.
 */
function setsOfFiles() {
  const files = [
    ...testFilesBelow('.build/legacy/test').filter(existsSync),
    ...testFilesBelow('.build/standard/test').filter(existsSync).filter(isCompiledTwice),
    ...peerSets.flatMap(filesBeside),
    ...adapterProjects.flatMap(filesOfAdapters),
  ];
  const wanted = files.filter(isWanted);
  leftOut = files.filter((file) => !isWanted(file) && isChosen(file)).length;
  if (wanted.length === 0) {
    console.error(`No test file matches ${parts.join(', ')}.`);
    process.exit(1);
  }
  const covered = coverage === undefined ? {} : { NODE_V8_COVERAGE: resolve(coverage) };
  if (parts.length > 0 || isFull || values.on !== undefined)
    return [{ files: wanted, env: environment(covered) }];
  const several = files.filter((file) => !isForFaults(file) && hasSeveralServers(file));
  const ofTests = {
    files: wanted.filter((file) => !isForFaults(file)),
    env: environment({ ...covered, CRONLATCH_TEST_SHARE: 'one' }),
  };
  const ofFaults = {
    files: wanted.filter(isForFaults),
    env: environment({}),
  };
  const onOthers = {
    files: wantsFaults ? several : [],
    env: environment({ CRONLATCH_TEST_SHARE: 'others' }),
    flags: ['--test-only'],
    note: ' (the other servers)',
  };
  return [ofTests, ofFaults, onOthers];
}

function isWanted(file) {
  if (parts.length > 0) return parts.some((part) => file.includes(part));
  return isFull || (isForFaults(file) ? wantsFaults && isChosen(file) : wantsTests);
}

function needsBrowser(file) {
  return isWanted(file) && IN_BROWSER.some((folder) => file.includes(join(folder, '/')));
}

function isChosen(file) {
  return !notChosen.includes(unitOf(file));
}

/** A file, or a project of query builders, whose packages are installed only for its tests. */
function unitOf(file) {
  return adapterProjects.map(adapterTests).find((folder) => file.startsWith(folder)) ?? file;
}

function farUnits() {
  const inFaults = testFilesBelow('.build/legacy/test').filter((file) =>
    FAR.some((room) => file.includes(room)),
  );
  const besideOthers = [...peerSets.flatMap(filesBeside), ...adapterProjects.flatMap(filesOfAdapters)];
  return [...new Set([...inFaults, ...besideOthers.filter(isForFaults)].map(unitOf))];
}

/** The units that the tree of the commit does not choose. Without a repository, it chooses all. */
function twoThirds(units) {
  const hashOf = (unit) => createHash('sha256').update(`${tree} ${unit}`).digest('hex');
  return tree
    ? units.toSorted((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1)).slice(Math.ceil(units.length / 3))
    : [];
}

function isForFaults(file) {
  if (file.startsWith(STANDARD)) return !file.startsWith(join(STANDARD, 'decorator', 'standard'));
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
  const source = relative(STANDARD, file).replace(/js$/, 'ts');
  return include.some((path) => source.startsWith(join(path)));
}

function environment(more) {
  const running = servers.running.map(({ name, url, version, origin }) => ({ name, url, version, origin }));
  return {
    ...process.env,
    CRONLATCH_TEST_SERVERS: JSON.stringify(running),
    CRONLATCH_TEST_SKIPS: skips,
    ...(values.on === undefined ? {} : { CRONLATCH_TEST_ON: values.on }),
    ...more,
    ...('file' in faketime ? { CRONLATCH_TEST_FAKETIME: faketime.file } : {}),
    ...('file' in chromium ? { CRONLATCH_TEST_CHROMIUM: JSON.stringify(chromium) } : {}),
  };
}

/** The last lines: the servers of the tests, and the tests that did not run. */
function report() {
  if (parts.length === 0 && leftOut > 0)
    console.log(
      `left out: ${leftOut} files, for npm ${wantsFaults ? 'test and npm run test:full' : 'run test:faults'}`,
    );
  for (const unit of notChosen) console.log(`left out: ${unit}, for npm run test:full`);
  for (const { name, version, origin } of servers.running)
    console.log(`server: ${name} ${version} (${origin})`);
  const lines = readFileSync(skips, 'utf8').split('\n');
  for (const [server, count] of wantsFaults ? [] : counted(lines, 'later '))
    console.log(`left out: ${count} cases on ${server}, for npm run test:faults`);
  for (const [lack, count] of counted(lines, 'lack ')) console.log(`left out: ${count} cases on ${lack}`);
  const skipped = counted(lines, 'skip ');
  for (const [needed, count] of skipped) {
    const missing = [...servers.missing, faketime.missing, chromium.missing];
    const { reasons = [] } = missing.find((each) => each?.name === needed) ?? {};
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
