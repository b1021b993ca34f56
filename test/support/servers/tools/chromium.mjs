/** A browser without a window, for the tests of the dashboard. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '../errors.mjs';
import { findExecutable } from '../find-executable.mjs';
import { run } from '../process/run.mjs';
import { shortFolderOf, withOwnLibraries } from '../unpacked.mjs';
import { bring } from './bring.mjs';

/** @typedef {{ file: string, env: Record<string, string> }} Browser */

const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

const chromium = {
  name: 'chromium',
  label: 'Chromium',
  // Ubuntu's package only installs a snap.
  packages: {
    debian: {
      packagePrefix: 'chromium-headless-shell',
      parts: ['chromium-common', 'fontconfig-config', 'fonts-dejavu-core'],
    },
  },
  find,
};

/**
 * The browser's file and what its environment must contain, or why it is not available.
 *
 * @param {{ log?: (line: string) => void }} [options]
 * @returns {Promise<Browser | { missing: import('../errors.mjs').MissingServer }>}
 */
export async function bringChromium({ log = console.error } = {}) {
  const brought = await bring(chromium, log);
  return 'missing' in brought ? brought : brought.file;
}

/** @param {string} [root] @returns {Promise<Browser>} */
async function find(root) {
  if (root !== undefined) return await findUnpacked(root);
  const reasons = [];
  for (const name of names) {
    try {
      return await checked({ file: await findExecutable(name), env: {} });
    } catch (error) {
      reasons.push(messageOf(error));
    }
  }
  throw new Error(reasons.join('; '));
}

/** @param {string} root */
async function findUnpacked(root) {
  const file = join(root, 'usr/lib/chromium/chromium-headless-shell');
  if (!existsSync(file)) throw new Error(`there is no chromium-headless-shell in ${shortFolderOf(chromium)}`);
  const [, libraries] = await withOwnLibraries(root);
  const [name, folders] = libraries.split('=');
  // libpulse finds its own part by an absolute path only.
  const value = folders.split(':').flatMap((folder) => [folder, join(folder, 'pulseaudio')]);
  // Its fonts, and their configuration, are below the same folder.
  return await checked({ file, env: { [name]: value.join(':'), FONTCONFIG_SYSROOT: root } });
}

/** Shows a page, because a browser that cannot do so may still report its version. @param {Browser} browser */
async function checked(browser) {
  const page = 'data:text/html,<script>document.write(6*7)</script>';
  const args = ['--headless', '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--dump-dom', page];
  const shown = await run(browser.file, args, { env: browser.env });
  if (shown.includes('42</body>')) return browser;
  throw new Error(`${browser.file} does not show a page`);
}
