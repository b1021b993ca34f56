import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { NPM, succeeding } from './command';

/**
 * Packages that are no dependencies of the project, once installed: as the lock file of a folder below `test` says.
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

/** Aside, and moved when it is complete: two that install at once do not meet half of it. */
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
