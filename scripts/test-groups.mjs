/** Which test files share a process: a process of its own costs more than most files need. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';

/** So many files share one process at most. */
const MOST = 12;
const TESTS = resolve('test');
/**
 * What belongs to the process, so that a file that contains it, or a helper of it, runs alone: names of decorated
 * methods, children, signals, the environment, global objects, mocked timers.
 */
const OF_A_PROCESS = [
  /@?\b(SchedulerLock|OncePer\w*|ExtendWith)\(/,
  /node:child_process|node:worker_threads|globalThis|mock\.timers/,
  /process\.(exit|kill|chdir|on|once|env\b.* = |env\[[^\]]+\] = |emitWarning)/,
];
/** Most of these take long, and kill or stall what others would use. */
const FAULTS = join('test', 'faults');
/** Would run around the tests of other files. Those of a helper may: it ends what all of them use. */
const HOOK = /^(before|after)(Each)?\(/m;

/**
 * @param {string[]} files compiled test files
 * @returns {string[][]} the same files, those together that share a process
 */
export function groupsOf(files) {
  const groups = new Map();
  for (const file of files) {
    const source = sourceOf(file);
    const isAlone = file.includes(FAULTS) || HOOK.test(readFileSync(source, 'utf8')) || isOfAProcess(source);
    const key = isAlone ? file : dirname(file);
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  return [...groups.values()].flatMap(parts);
}

/** Whether a compiled test file declares cases for several servers. */
export function hasSeveralServers(file) {
  const text = readFileSync(sourceOf(file), 'utf8');
  return (sharing ??= sharingHelpers()).some((name) => text.includes(`${name}(`));
}

let sharing;

/** The names of the functions by which a test declares a case for several servers. */
function sharingHelpers() {
  const helpers = readdirSync(TESTS, { recursive: true }).filter((path) => /(?<!\.test)\.ts$/.test(path));
  const functions = helpers.flatMap((path) =>
    readFileSync(join(TESTS, path), 'utf8').split(/^(?=export function )/m),
  );
  const names = ['onStores'];
  // Grows while it is read.
  for (const name of names)
    for (const each of functions.filter((text) => text.includes(`${name}(`))) {
      const [, caller = name] = /^export function (\w+)/.exec(each) ?? [];
      if (!names.includes(caller)) names.push(caller);
    }
  return names;
}

/** Parts of about the same size. */
function parts(group) {
  const count = Math.ceil(group.length / MOST);
  return Array.from({ length: count }, (_, part) => group.filter((_file, i) => i % count === part));
}

function sourceOf(compiled) {
  const path = compiled.slice(compiled.lastIndexOf(`${sep}test${sep}`) + 6);
  return join(TESTS, path.replace(/js$/, 'ts'));
}

const known = new Map();

/** Whether this file or one that it imports from the tests contains such a thing. */
function isOfAProcess(file) {
  if (known.has(file)) return known.get(file);
  known.set(file, false); // For files that import each other.
  const text = readFileSync(file, 'utf8');
  const imports = [...text.matchAll(/\bfrom '(\.[^']+)'/g)].map(([, path]) => helperAt(dirname(file), path));
  const result =
    OF_A_PROCESS.some((pattern) => pattern.test(text)) ||
    imports.some((each) => each !== undefined && isOfAProcess(each));
  known.set(file, result);
  return result;
}

function helperAt(folder, path) {
  const base = resolve(folder, path);
  return [`${base}.ts`, join(base, 'index.ts'), base]
    .filter((file) => file.startsWith(TESTS))
    .find((file) => existsSync(file) && statSync(file).isFile());
}
