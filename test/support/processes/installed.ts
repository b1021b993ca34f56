import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { NPM, succeeding } from './command';

/**
 * Packages that are not dependencies of the project, installed once, by the lock file of a folder below
 * `test`.
 *
 * @returns their `node_modules`
 */
export async function installed(folder: string): Promise<string> {
  const lock = readFileSync(join(folder, 'package-lock.json'));
  const stamp = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const home = join('.build/installed', `${folder.replaceAll(/[\\/]/g, '-')}-${stamp}`);
  if (!existsSync(home)) await install(folder, home);
  return join(process.cwd(), home, 'node_modules');
}

/**
 * Installed in another folder and then renamed, so that two installations at once never see half of each
 * other.
 */
async function install(folder: string, home: string): Promise<void> {
  mkdirSync('.build/installed', { recursive: true });
  const aside = mkdtempSync(join('.build/installed', 'installing-'));
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc'])
      cpSync(join(folder, file), join(aside, file));
    await succeeding(
      NPM,
      ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'],
      join(process.cwd(), aside),
    );
    if (!existsSync(home)) renameSync(aside, home);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}
