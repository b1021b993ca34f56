import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, run } from './run.mjs';

const STAMP = 'node_modules/.cronlatch-installed';
const INSTALLED = 'node_modules/.package-lock.json';

/** What `node_modules` must match: the lock file, and the Node that native modules were compiled for. */
function wanted() {
  return createHash('sha256')
    .update(readFileSync('package-lock.json'))
    .update(process.versions.modules)
    .digest('hex');
}

/**
 * Whether `npm ci` was run by hand: npm lists there what it installed, and native modules load in this Node.
 */
function isInstalled() {
  if (!existsSync(INSTALLED)) return false;
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const { packages: installed } = JSON.parse(readFileSync(INSTALLED, 'utf8'));
  const isAsLocked = ([path, { version, integrity, optional }]) =>
    path === '' || (installed[path] === undefined ? optional : sameAs(installed[path], version, integrity));
  if (Object.keys(installed).some((path) => !(path in packages))) return false;
  return Object.entries(packages).every(isAsLocked) && nativeModulesLoad();
}

function sameAs(installed, version, integrity) {
  return installed.version === version && installed.integrity === integrity;
}

function nativeModulesLoad() {
  try {
    const Database = createRequire(import.meta.url)('better-sqlite3');
    new Database(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

/** Installs the development dependencies if they are missing or out of date. */
export async function install() {
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted()) return;
  if (!isInstalled()) await reinstall();
  writeFileSync(STAMP, wanted());
}

async function reinstall() {
  console.error('Installing dependencies with npm ci (a native module may be compiled: about a minute) …');
  await npm(['ci']);
}

const tsc = (project) => run(process.execPath, ['node_modules/typescript/bin/tsc', '--project', project]);

/**
 * Builds the library into `dist`. Output of a deleted source would be found before a folder with that name.
 */
export async function buildLibrary() {
  for (const name of existsSync('dist') ? readdirSync('dist', { recursive: true }) : []) {
    const source = join('src', name.replace(/\.(js|d\.ts)(\.map)?$/, '.ts'));
    if (source.endsWith('.ts') && !existsSync(source)) rmSync(join('dist', name));
  }
  await tsc('tsconfig.json');
}

/** Builds tests and examples, once for each kind of decorators, into `.build`. */
export async function buildTests() {
  await tsc('test/tsconfig.json');
  await tsc('test/tsconfig.standard.json');
}

/** Builds the library, and the examples that use it. */
export async function buildExamples() {
  await buildLibrary();
  await tsc('examples/tsconfig.json');
}

/** Builds the library, and the bench that compares it. */
export async function buildBench() {
  await buildLibrary();
  await tsc('bench/tsconfig.json');
}
