import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from './run.mjs';

/** The folder that lists the packages of Nest 12. */
const PINNED = 'test/nest-12';
/** They are installed here. Node finds their other dependencies above, in the project's own. */
const FOLDER = '.build/nest-12';
/** A copy of this package, for which they are the nearest: tests in it resolve `cronlatch` to this copy. */
const COPY = join(FOLDER, 'cronlatch');
const STAMP = join(FOLDER, '.installed');

/** The folder of the compiled tests that run against Nest 12. */
export const NEST_12_TESTS = join(COPY, 'test');

/** Copies the built library and its compiled tests beside Nest 12. */
export async function buildNest12() {
  const lock = readFileSync(join(PINNED, 'package-lock.json'));
  const wanted = createHash('sha256').update(lock).digest('hex');
  mkdirSync(FOLDER, { recursive: true });
  if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== wanted) {
    cpSync(PINNED, FOLDER, { recursive: true });
    await npm(['ci'], { cwd: FOLDER });
    writeFileSync(STAMP, wanted);
  }
  rmSync(COPY, { recursive: true, force: true });
  for (const [from, to] of [
    ['package.json', 'package.json'],
    ['dist', 'dist'],
    ['.build/legacy/test', 'test'],
    ['.build/legacy/ormconfig.js', 'ormconfig.js'],
  ])
    cpSync(from, join(COPY, to), { recursive: true });
}
