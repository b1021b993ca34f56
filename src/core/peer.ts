import { CronlatchError } from './errors';

/**
 * Fails with what to install, instead of a stack from inside, when an optional package is missing.
 *
 * @param subpath the part of this library that needs it
 */
export function requirePeer(packageName: string, subpath: string): void {
  try {
    require.resolve(packageName);
  } catch (cause) {
    throw new CronlatchError(`${subpath} needs the package '${packageName}': npm install ${packageName}`, {
      cause,
    });
  }
}
