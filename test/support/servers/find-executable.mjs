import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

// Servers are in folders that an unprivileged user's PATH does not contain.
const further = ['/usr/local/sbin', '/usr/sbin', '/usr/libexec', '/opt/homebrew/bin'];

/**
 * @param {string} name
 * @param {string[]} [folders] more folders than PATH to search
 */
export async function findExecutable(name, folders = []) {
  const path = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  for (const folder of [...path, ...further, ...folders]) {
    const file = join(folder, name);
    if (await isExecutable(file)) return file;
  }
  throw new Error(`there is no ${name} on this machine`);
}

async function isExecutable(/** @type {string} */ file) {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
