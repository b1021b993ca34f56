import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { guard } from '../process/guard.mjs';
import { run } from '../process/run.mjs';
import { folderOf, serversFolder } from '../unpacked.mjs';

/**
 * Unpacks the archives into the recipe's folder of .servers/, which appears at once and complete, or not at
 * all.
 *
 * @param {import('../types.mjs').Unpacked} recipe
 * @param {string[]} archives
 * @param {string} from
 */
export async function unpackInto(recipe, archives, from) {
  const partial = await mkdtemp(join(serversFolder, `.partial-${recipe.name}-`));
  const release = guard({ folder: partial });
  try {
    for (const archive of archives) await run('dpkg-deb', ['--extract', archive, partial]);
    await recipe.find(partial).catch((cause) => {
      throw new Error(`${from} has changed: its package does not run here (${cause.message})`, { cause });
    });
    await rename(partial, folderOf(recipe)).catch((error) => {
      // Another run was faster; its folder is equivalent to ours.
      if (!existsSync(folderOf(recipe))) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
    release();
  }
}
