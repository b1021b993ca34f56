import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { OTHER_PEERS } from './other-peers.mjs';
import { groupsOf } from './test-groups.mjs';

/** Seconds per process of test files, from its last run. */
const SECONDS = '.build/test-seconds.json';
/** The folders of the files that take this long, or longer, as a rule: while the seconds of a file are not known. */
const SLOW = /[\\/](faults|simulation|storage|cases|examples|package|integrations)[\\/]/;
const SLOW_SECONDS = 5;
/** So many of the slowest files are named at the end of a run. */
const SLOWEST = 15;
/** One more file starts when processors have been idle for this share of a second. */
const IDLE_SHARE = 0.2;
/** Characters of what the end of a run repeats of a failure. */
const LONGEST_REPORT = 3000;
const FLAGS = ['--enable-source-maps', '--test-reporter=spec'];
const GROUP = 'scripts/test-group.cjs';
const FEWEST = availableParallelism();
/** Many files wait for servers and timers more than they compute. */
const MOST = 3 * FEWEST;

/**
 * Runs compiled test files in a process for each group, the slowest first, and prints a line for each when it has
 * ended. The output of a group that fails is printed before that, and of each one where `verbose` is set.
 *
 * @param {{ files: string[], env: NodeJS.ProcessEnv, flags?: string[], note?: string }[]} sets Their flags are those of
 * Node, and their notes follow the names of their groups.
 * @param {{ longestMinutes: number, verbose: boolean, isMeasured: boolean }} options A group that takes longer hangs: it
 * is ended and fails by its name, instead of delaying all others silently. The seconds of measured groups decide the
 * order of the next run.
 * @returns {Promise<{ test: string, file: string, report: string }[]>} what failed
 */
export async function runTestFiles(sets, options) {
  const known = existsSync(SECONDS) ? JSON.parse(readFileSync(SECONDS, 'utf8')) : {};
  const secondsOf = ({ files, name }) =>
    known[name] ?? (SLOW.test(files[0]) ? SLOW_SECONDS : 0) * files.length;
  const count = sets.reduce((sum, { files }) => sum + files.length, 0);
  const waiting = sets.flatMap(groupsIn).toSorted((a, b) => secondsOf(b) - secondsOf(a));
  const results = [];
  const began = performance.now();
  await new Promise((resolve) => {
    let running = 0;
    const begin = async () => {
      const group = waiting.shift();
      if (group === undefined) return;
      running++;
      results.push(await runGroup(group, { ...options, isAlone: options.verbose && count === 1 }));
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
  if (options.isMeasured) writeFileSync(SECONDS, JSON.stringify({ ...known, ...seconds }, undefined, 1));
  summarize(results, count, (performance.now() - began) / 1000);
  return results.flatMap(({ failures }) => failures);
}

function groupsIn({ files, env, flags = [], note = '' }) {
  return groupsOf(files).map((group) => ({ files: group, name: nameOf(group) + note, env, flags }));
}

async function runGroup({ files, name, env, flags }, { longestMinutes, verbose, isAlone }) {
  const began = performance.now();
  const args = [...FLAGS, ...flags, ...(files.length === 1 ? files : [GROUP, ...files])];
  const child = spawn(process.execPath, args, {
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
  const [all, failed, allSkipped] = ['tests', 'fail', 'skipped'].map((what) =>
    Number(new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0),
  );
  // The other tests of a file of which only some run.
  const others = output.match(/# 'only' option not set$/gm)?.length ?? 0;
  const [tests, skipped] = [all - others, allSkipped - others];
  const passed = status === 0;
  if ((verbose || !passed) && !isAlone) console.log(output);
  const ended = signal === null ? '' : `, ended by ${signal}`;
  const line = `${passed ? '✔' : '✖'} ${name}: ${tests} tests, ${seconds} s${ended}`;
  console.log(line);
  const failures = passed ? [] : failuresIn(output, files);
  return { name, line, passed, seconds, tests, failed, skipped, failures };
}

/** The failed tests, with what the runner reports of each. A process may also fail without one: it is ended, or exits. */
function failuresIn(output, files) {
  const found = [
    ...output.matchAll(/^test at (.+):\d+:\d+\n✖ (.+) \([\d.]+ms\)\n((?:[ \t].*\n|\n(?!test at ))*)/gm),
  ];
  if (found.length === 0)
    return [{ test: 'the process', file: nameOf(files), report: output.slice(-LONGEST_REPORT) }];
  // A test that a helper defines is at a place in the helper.
  const fileAt = (place) => files.map(sourceOf).find((file) => file.startsWith(place));
  return found.map(([, place, test, report]) => ({
    test,
    file: fileAt(place) ?? nameOf(files),
    report: report.trimEnd().slice(0, LONGEST_REPORT),
  }));
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
