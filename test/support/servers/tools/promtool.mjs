/** promtool, which tests the rules of Prometheus. It is a part of Prometheus and needs no library but libc. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { findExecutable } from '../find-executable.mjs';
import { shortFolderOf } from '../unpacked.mjs';
import { bring } from './bring.mjs';

const source = { packagePrefix: 'prometheus', only: /^$/ };

const promtool = {
  name: 'prometheus',
  label: 'promtool',
  packages: { debian: source, ubuntu: source },
  find,
};

/** The program's file, or why it is not available. @param {{ log?: (line: string) => void }} [options] */
export async function bringPromtool({ log = console.error } = {}) {
  return await bring(promtool, log);
}

/** @param {string} [root] */
async function find(root) {
  if (root === undefined) return await findExecutable('promtool');
  const file = join(root, 'usr/bin/promtool');
  if (existsSync(file)) return file;
  throw new Error(`there is no promtool in ${shortFolderOf(promtool)}`);
}
