import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { OTHER_PEERS } from './other-peers.mjs';
import { groupsOf } from './test-groups.mjs';

/** Seconds per process of test files, from its last run. */
const SECONDS = '.build/test-seconds.json';
/** The folders of the files that take this long, or longer, as a rule: while the seconds of a file are not known. */
const SLOW = /[\\/](faults|simulation|storage|cases|examples|package)[\\/]/;
const SLOW_SECONDS = 5;
/** So many of the slowest files are named at the end of a run. */
const SLOWEST = 15;
/** One more file starts when processors have been idle for this share of a second. */
const IDLE_SHARE = 0.2;
const FLAGS = ['--enable-source-maps', '--test-reporter=spec'];
const GROUP = 'scripts/test-group.cjs';
const FEWEST = availableParallelism();
/** Many files wait for servers and timers more than they compute. */
const MOST = 3 * FEWEST;

/**
 * Runs compiled test files in a process for each group, the slowest first, and prints a line for each when it has
 * ended. The output of a group that fails is printed before that, and of each one where `verbose` is set.
 *
 * @param {string[]} files
 * @param {{ env: NodeJS.ProcessEnv, longestMinutes: number, verbose: boolean }} options A group that takes
 * longer hangs: it is ended and fails by its name, instead of delaying all others silently.
 * @returns {Promise<boolean>} whether all passed
 */
export async function runTestFiles(files, options) {
  const known = existsSync(SECONDS) ? JSON.parse(readFileSync(SECONDS, 'utf8')) : {};
  const secondsOf = (group) =>
    known[nameOf(group)] ?? (SLOW.test(group[0]) ? SLOW_SECONDS : 0) * group.length;
  const waiting = groupsOf(files).toSorted((a, b) => secondsOf(b) - secondsOf(a));
  const results = [];
  const began = performance.now();
  await new Promise((resolve) => {
    let running = 0;
    const begin = async () => {
      const group = waiting.shift();
      if (group === undefined) return;
      running++;
      results.push(await runGroup(group, { ...options, isAlone: files.length === 1 }));
      running--;
      if (waiting.length === 0 && running === 0) resolve(clearInterval(timer));
      else if (running < FEWEST) void begin();
    };
    const idle = idleShare();
    const timer = setInterval(() => {
      if (idle() > IDLE_SHARE && running < MOST) void begin();
    }, 250);
    for (let i = 0; i < FEWEST; i++) void begin();
  });
  const seconds = Object.fromEntries(results.map(({ name, seconds }) => [name, seconds]));
  writeFileSync(SECONDS, JSON.stringify({ ...known, ...seconds }, undefined, 1));
  summarize(results, files.length, (performance.now() - began) / 1000);
  return results.every(({ passed }) => passed);
}

async function runGroup(files, { env, longestMinutes, verbose, isAlone }) {
  const began = performance.now();
  const child = spawn(process.execPath, [...FLAGS, ...(files.length === 1 ? files : [GROUP, ...files])], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: longestMinutes * 60_000,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    if (isAlone) stream.pipe(process.stdout, { end: false });
    stream.setEncoding('utf8').on('data', (text) => (output += text));
    // Processes that it started may still hold the other end.
    child.on('exit', (_, signal) => signal !== null && stream.destroy());
  }
  const [status, signal] = await new Promise((resolve) => child.on('close', (...end) => resolve(end)));
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  const [tests, failed, skipped] = ['tests', 'fail', 'skipped'].map((what) =>
    Number(new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0),
  );
  const passed = status === 0;
  if ((verbose || !passed) && !isAlone) console.log(output);
  const ended = signal === null ? '' : `, ended by ${signal}`;
  const name = nameOf(files);
  const line = `${passed ? '✔' : '✖'} ${name}: ${tests} tests, ${seconds} s${ended}`;
  console.log(line);
  return { name, line, passed, seconds, tests, failed, skipped };
}

function nameOf(files) {
  const [first, ...others] = files.map(sourceOf);
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** The source of the file, and the compilation in which it ran. */
function sourceOf(file) {
  const [, folder, path] = /^\.build\/(adapters\/\w+\/compiled|[^/]+)(?:\/cronlatch)?\/(.*)\.js$/.exec(
    file.replaceAll('\\', '/'),
  );
  const kind =
    folder === 'standard' ? 'standard decorators' : OTHER_PEERS.find(({ name }) => name === folder)?.title;
  return `${path}.ts${kind === undefined ? '' : ` (${kind})`}`;
}

function summarize(results, files, seconds) {
  const sum = (of) => results.reduce((total, result) => total + of(result), 0);
  const slowest = results.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  if (results.length > SLOWEST)
    console.log(['The slowest:', ...slowest.map(({ line }) => line)].join('\n  '));
  const failures = results.filter(({ passed }) => !passed);
  if (failures.length > 0) console.log(['Failed:', ...failures.map(({ line }) => line)].join('\n  '));
  console.log(
    `${files} files in ${results.length} processes, ${sum(({ tests }) => tests)} tests, ${sum(({ failed }) => failed)} failed, ` +
      `${sum(({ skipped }) => skipped)} skipped, ${Math.round(seconds)} s`,
  );
}

/** @returns {() => number} the share of the processors' time that was idle since the last call */
function idleShare() {
  const now = () => {
    const times = cpus().map((cpu) => cpu.times);
    const sum = (of) => times.reduce((total, each) => total + of(each), 0);
    return { idle: sum(({ idle }) => idle), all: sum((each) => Object.values(each).reduce((a, b) => a + b)) };
  };
  let last = now();
  return () => {
    const { idle, all } = now();
    const share = (idle - last.idle) / Math.max(1, all - last.all);
    last = { idle, all };
    return share;
  };
}
