/** libfaketime, a library that gives the processes it is loaded into another clock. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { shortFolderOf } from '../unpacked.mjs';
import { bring } from './bring.mjs';

// For programs with several threads, like all of ours.
const library = 'libfaketimeMT.so.1';

const faketime = {
  name: 'faketime',
  label: 'libfaketime',
  packages: { debian: { packagePrefix: 'libfaketime' }, ubuntu: { packagePrefix: 'libfaketime' } },
  find: findLibrary,
};

/**
 * The library's file, or why it is not available.
 *
 * @param {{ log?: (line: string) => void }} [options]
 */
export async function bringFaketime({ log = console.error } = {}) {
  return await bring(faketime, log);
}

async function findLibrary(root = '/') {
  const folder = join(root, 'usr/lib');
  const architectures = existsSync(folder) ? await readdir(folder) : [];
  for (const architecture of architectures.filter((name) => name.endsWith('-linux-gnu'))) {
    const file = join(folder, architecture, 'faketime', library);
    if (existsSync(file)) return file;
  }
  throw new Error(
    `there is no ${library} ${root === '/' ? 'on this machine' : `in ${shortFolderOf(faketime)}`}`,
  );
}
