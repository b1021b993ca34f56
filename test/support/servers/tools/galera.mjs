/** The library that makes several MariaDB servers one cluster. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { shortFolderOf } from '../unpacked.mjs';
import { bring } from './bring.mjs';

// Its libraries are among those of MariaDB.
const source = { packagePrefix: 'galera-4', only: /^$/ };

const galera = { name: 'galera', label: 'Galera', packages: { debian: source, ubuntu: source }, find };

/** The library's file, or why it is not available. @param {(line: string) => void} log */
export async function bringGalera(log) {
  return await bring(galera, log);
}

async function find(root = '/') {
  const file = join(root, 'usr/lib/galera/libgalera_smm.so');
  if (existsSync(file)) return file;
  throw new Error(`there is no ${file}${root === '/' ? '' : ` in ${shortFolderOf(galera)}`}`);
}
