import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** @typedef {{ id: 'debian' | 'ubuntu', label: string, codename: string, keyring: string, components: string }} Distribution */

const known = {
  debian: { label: 'Debian', keyring: '/usr/share/keyrings/debian-archive-keyring.gpg', components: 'main' },
  ubuntu: {
    label: 'Ubuntu',
    keyring: '/usr/share/keyrings/ubuntu-archive-keyring.gpg',
    components: 'main universe',
  },
};

/** @returns {Promise<Distribution>} */
export async function readDistribution() {
  const release = existsSync('/etc/os-release') ? await readFile('/etc/os-release', 'utf8') : '';
  const field = (/** @type {string} */ name) => new RegExp(`^${name}="?([^"\n]*)`, 'm').exec(release)?.[1];
  const id = field('ID');
  if (id !== 'debian' && id !== 'ubuntu') {
    throw new Error(`packages are fetched on Debian and Ubuntu only, and this is ${id ?? process.platform}`);
  }
  const { label, keyring, components } = known[id];
  if (!existsSync(keyring))
    throw new Error(`${keyring} does not exist, so that no signature could be verified`);
  // Debian's testing and unstable lack VERSION_CODENAME in some releases.
  return { id, label, codename: field('VERSION_CODENAME') ?? 'sid', keyring, components };
}
