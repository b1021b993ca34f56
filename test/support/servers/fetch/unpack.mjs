import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';

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
    await keepLinksInside(partial);
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

/**
 * Packages may link to their own files by absolute paths, to those in /etc for example. Here such a link leads to the
 * unpacked file.
 *
 * @param {string} root
 */
async function keepLinksInside(root) {
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) continue;
    const link = join(entry.parentPath, entry.name);
    const target = await readlink(link);
    if (!isAbsolute(target) || !existsSync(join(root, target))) continue;
    await rm(link);
    // Relative, because the folder is renamed.
    await symlink(relative(entry.parentPath, join(root, target)), link);
  }
}
