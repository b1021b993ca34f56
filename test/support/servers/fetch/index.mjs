/**
 * Fetches a server's packages from the machine's own package mirror into .servers/, as browser tests fetch
 * their browsers: the system is not changed, no privilege is needed, and the mirror's signatures are
 * verified.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { guard } from '../process/guard.mjs';
import { folderOf, serversFolder, shortFolderOf } from '../unpacked.mjs';
import { readDistribution } from './distribution.mjs';
import { packageToFetch, packagesNeededBy } from './needed-packages.mjs';
import { openArchive } from './private-apt.mjs';
import { unpackInto } from './unpack.mjs';

/**
 * Resolves when the server is unpacked; rejects with the reason why it is not available.
 *
 * @param {import('../types.mjs').Unpacked} recipe
 * @param {(line: string) => void} log
 */
export async function fetchServer(recipe, log) {
  if (process.env.CRONLATCH_FETCH === '0') throw new Error('CRONLATCH_FETCH=0 forbids it');
  const wasNeeded = await Promise.all((recipe.needs ?? []).map((other) => fetchIfMissing(other, log)));
  if (existsSync(folderOf(recipe)) && wasNeeded.includes(true)) return;
  if (existsSync(folderOf(recipe)))
    throw new Error(`${shortFolderOf(recipe)} exists: remove it to fetch it again`);
  const distribution = await readDistribution();
  const source = recipe.packages[distribution.id];
  if (!source)
    throw new Error(`the package of ${distribution.label} that contains ${recipe.label} is unknown`);

  // Checked first, because in a checkout without write access the rest would be in vain.
  await mkdir(serversFolder, { recursive: true });

  const startedAt = Date.now();
  const folder = await mkdtemp(join(tmpdir(), 'cronlatch-fetch-'));
  const release = guard({ folder });
  try {
    const suite = source.suite ?? distribution.codename;
    const from = `${distribution.label}'s suite ${suite}`;
    log(`${recipe.label}: looking for it in ${from}`);
    const apt = await openArchive(folder, distribution, suite);
    const name = await packageToFetch(apt, source, from);
    const packages = await packagesNeededBy(apt, { ...source, name }, from);

    const bytes = packages.reduce((sum, { size }) => sum + size, 0);
    const what = `${packages[0].name} ${packages[0].version} and ${packages.length - 1} libraries`;
    log(
      `${recipe.label}: fetching ${what} (${Math.round(bytes / 1e6)} MB) from ${from} into ${shortFolderOf(recipe)}`,
    );
    const archives = await apt.download(packages.map((needed) => needed.name));
    await unpackInto(recipe, archives, from);
    log(`${recipe.label}: fetched and unpacked in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
  } finally {
    await rm(folder, { recursive: true, force: true });
    release();
  }
}

/** Whether it was missing. @param {import('../types.mjs').Unpacked} program @param {(line: string) => void} log */
async function fetchIfMissing(program, log) {
  const isThere = await program
    .find()
    .catch(() => program.find(folderOf(program)))
    .then(
      () => true,
      () => false,
    );
  if (!isThere) await fetchServer(program, log);
  return !isThere;
}
