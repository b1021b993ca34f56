/** The Java that ZooKeeper needs: on this machine, or unpacked under .servers/. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { findExecutable } from './find-executable.mjs';
import { run } from './process/run.mjs';
import { folderOf } from './unpacked.mjs';

// Without what it needs for sound, printing and fonts.
const packages = { packagePrefix: 'default-jre-headless', only: /^openjdk-\d+-jre-headless$/ };

/** @type {import('./types.mjs').Unpacked} */
export const java = {
  name: 'java',
  label: 'Java',
  packages: { debian: packages, ubuntu: packages },

  async find(root) {
    const file = root
      ? unpackedUnder(root, await readdir(join(root, 'usr/lib/jvm')))
      : await findExecutable('java');
    // macOS has a `java` that only names a place to get one.
    await run(file, ['-version']);
    return file;
  },
};

/** @returns {Promise<string>} */
export async function findJava() {
  try {
    return await java.find();
  } catch (error) {
    return await java.find(folderOf(java)).catch(() => Promise.reject(error));
  }
}

/** @param {string} root @param {string[]} versions */
function unpackedUnder(root, versions) {
  const files = versions.map((version) => join(root, 'usr/lib/jvm', version, 'bin/java'));
  const file = files.find((each) => existsSync(each));
  if (file) return file;
  throw new Error(`there is no java in ${root}`);
}
