import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from './run.mjs';

/**
 * Packages in other versions than those of the project. A folder below `test` with this name pins them. They are
 * installed below `.build`, and Node finds their other dependencies above, in the project's own.
 */
export const OTHER_PEERS = [
  {
    name: 'nest-12',
    title: 'Nest 12',
    /** Tests that run with these packages: beginnings of paths below `test`. */
    tests: ['integrations/nestjs/'],
    /** `npm test` runs only these of them. */
    smoke: ['integrations/nestjs/module.test'],
  },
  {
    name: 'oldest-peers',
    title: 'oldest peers',
    tests: [
      ...['nestjs', 'typeorm', 'drivers', 'transactions'].map((name) => `integrations/${name}/`),
      ...['storage/sql/schema/findings', 'storage/contracts.test'],
      // Redis, ZooKeeper and etcd have no package here in another version.
      ...['mysql', 'mariadb', 'postgres', 'row'].map((name) => `storage/contracts.${name}.test`),
      ...['sqlite', 'mysql', 'mariadb', 'postgres'].map((name) => `faults/storage/contracts.${name}.test`),
    ],
    smoke: ['integrations/typeorm/complete-run-in'],
  },
];

/** The compiled tests that run with these packages. */
export function testsBeside({ name }) {
  return join(copyBeside(name), 'test');
}

/** A copy of this package, for which the other packages are the nearest. */
function copyBeside(name) {
  return join('.build', name, 'cronlatch');
}

/** Copies the built library and its compiled tests beside the packages. */
export async function buildBeside({ name }) {
  const pinned = join('test', name);
  const folder = join('.build', name);
  const copy = copyBeside(name);
  const stamp = join(folder, '.installed');
  const lock = readFileSync(join(pinned, 'package-lock.json'));
  const wanted = createHash('sha256').update(lock).digest('hex');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
    cpSync(pinned, folder, { recursive: true });
    await npm(['ci'], { cwd: folder });
    writeFileSync(stamp, wanted);
  }
  rmSync(copy, { recursive: true, force: true });
  for (const [from, to] of [
    ['package.json', 'package.json'],
    ['dist', 'dist'],
    ['.build/legacy/test', 'test'],
    ['.build/legacy/ormconfig.js', 'ormconfig.js'],
  ])
    cpSync(from, join(copy, to), { recursive: true });
}
