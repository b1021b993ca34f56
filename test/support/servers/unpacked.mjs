import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Ignored by git, and removed together with the checkout. */
export const serversFolder = fileURLToPath(new URL('../../../.servers', import.meta.url));

/** @param {{ name: string }} recipe */
export function folderOf({ name }) {
  return join(serversFolder, name);
}

/** For messages. @param {{ name: string }} recipe */
export function shortFolderOf({ name }) {
  return join('.servers', name);
}

/**
 * How to run a program that was unpacked under `root`: with the loader and the libraries that were unpacked beside it,
 * because those of this machine may be older than the program needs.
 *
 * @param {string} root
 * @param {string} path the program's, inside `root`
 * @returns {Promise<{ file: string, args: string[] }>}
 */
export async function withOwnLoader(root, path) {
  const libraries = await librariesOf(root);
  for (const folder of libraries) {
    const loader = (await readdir(folder)).find((name) => /^ld-linux.*\.so\.\d+$/.test(name));
    if (!loader) continue;
    return { file: join(folder, loader), args: ['--library-path', libraries.join(':'), join(root, path)] };
  }
  throw new Error(`no loader (ld-linux) is unpacked under ${root}`);
}

/**
 * The command before a program that was unpacked under `root` and starts other such programs, as `initdb`
 * does. The loader of this machine then runs them. It fits if the program comes from the machine's own suite.
 *
 * @param {string} root
 */
export async function withOwnLibraries(root) {
  return ['env', `LD_LIBRARY_PATH=${(await librariesOf(root)).join(':')}`];
}

/** @param {string} root */
async function librariesOf(root) {
  return [...(await librariesUnder(join(root, 'usr/lib'))), ...(await librariesUnder(join(root, 'lib')))];
}

async function librariesUnder(/** @type {string} */ folder) {
  if (!existsSync(folder)) return [];
  return (await readdir(folder)).filter((name) => /-linux-gnu/.test(name)).map((name) => join(folder, name));
}
