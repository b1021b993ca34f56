/**
 * libfaketime, a library that gives the processes it is loaded into another clock. It is not a server, but is
 * found in the same ways: on this machine, unpacked under .servers/ before, or fetched there now.
 */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { messageOf } from './errors.mjs';
import { fetchServer } from './fetch/index.mjs';
import { folderOf, shortFolderOf } from './unpacked.mjs';

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
 * @returns {Promise<{ file: string } | { missing: import('./errors.mjs').MissingServer }>}
 */
export async function bringFaketime({ log = console.error } = {}) {
  const unpacked = folderOf(faketime);
  const reasons = [];
  for (const [step, find] of /** @type {const} */ ([
    ['binary', () => findLibrary('/')],
    ['.servers', () => findLibrary(unpacked)],
    ['fetch', () => fetchServer(faketime, log).then(() => findLibrary(unpacked))],
  ])) {
    try {
      return { file: await find() };
    } catch (error) {
      reasons.push(`${step}: ${messageOf(error)}`);
    }
  }
  return { missing: { name: faketime.label, reasons } };
}

/** @param {string} root */
async function findLibrary(root) {
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
