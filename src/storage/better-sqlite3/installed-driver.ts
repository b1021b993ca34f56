import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { InvalidLockConfigurationError } from '../../core';

/**
 * With the headers of Node 24.19 and later, a driver up to version 12 calls `RemoveEnvironmentCleanupHook` when the garbage
 * collector frees one of its objects. Node 24 then aborts the process. Binaries that were compiled before are safe.
 *
 * @throws InvalidLockConfigurationError if this driver would crash this version of Node
 */
export function refuseCrash(node: string, version: string, binary?: Buffer): void {
  const usesNodeApi = Number.parseInt(version, 10) >= 13;
  if (usesNodeApi && Number.parseInt(node, 10) < 22)
    throw new InvalidLockConfigurationError(
      `better-sqlite3 ${version} crashes Node ${node}, because it needs Node 22 or later. Install version 12: npm install better-sqlite3@12`,
    );
  if (!usesNodeApi && node.startsWith('24.') && binary?.includes('RemoveEnvironmentCleanupHook'))
    throw new InvalidLockConfigurationError(
      `better-sqlite3 ${version} aborts the process on Node ${node}, because it was compiled for Node 24.19 or later. Install version 13: npm install better-sqlite3@13`,
    );
}

const accepted = new Set<string>();

/** Does that before a package opens a file. It is not known which driver a bundle contains. */
export function refuseCrashingDriver(loader = 'cronlatch'): void {
  if (accepted.has(loader)) return;
  const driver = driverOf(loader);
  if (driver !== undefined) refuseCrash(process.versions.node, ...driver);
  accepted.add(loader);
}

function driverOf(loader: string): [version: string, binary?: Buffer] | undefined {
  try {
    const from = loader === 'cronlatch' ? __filename : createRequire(__filename).resolve(loader);
    const manifest = createRequire(from).resolve('better-sqlite3/package.json');
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
    const binary = join(manifest, '../build/Release/better_sqlite3.node');
    return existsSync(binary) ? [version, readFileSync(binary)] : [version];
  } catch {
    return undefined;
  }
}
