import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, run } from './run.mjs';

const STAMP = 'node_modules/.cronlatch-installed';

/** What `node_modules` must match: the lock file, and the Node that native modules were compiled for. */
function wanted() {
  return createHash('sha256')
    .update(readFileSync('package-lock.json'))
    .update(process.versions.modules)
    .digest('hex');
}

/** Installs the development dependencies when they are missing or out of date. */
export async function install() {
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted()) return;
  console.error('Installing dependencies with npm ci (a native module may be compiled: about a minute) …');
  await npm(['ci']);
  writeFileSync(STAMP, wanted());
}

const tsc = (project) => run(process.execPath, ['node_modules/typescript/bin/tsc', '--project', project]);

/** The library, into `dist`. What is there of a source that is gone would be found before a folder of that name. */
export async function buildLibrary() {
  for (const name of existsSync('dist') ? readdirSync('dist', { recursive: true }) : []) {
    const source = join('src', name.replace(/\.(js|d\.ts)(\.map)?$/, '.ts'));
    if (source.endsWith('.ts') && !existsSync(source)) rmSync(join('dist', name));
  }
  await tsc('tsconfig.json');
}

/** Tests and examples, once for each kind of decorators, into `.build`. */
export async function buildTests() {
  await tsc('test/tsconfig.json');
  await tsc('test/tsconfig.standard.json');
}

/** The library, and the examples that use it. */
export async function buildExamples() {
  await buildLibrary();
  await tsc('examples/tsconfig.json');
}

/** The library, and the bench that compares it. */
export async function buildBench() {
  await buildLibrary();
  await tsc('bench/tsconfig.json');
}
