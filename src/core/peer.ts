import { CronlatchError } from './errors';

/**
 * Throws an error that names the package to install if an optional package is missing.
 *
 * @param subpath the part of this library that needs it
 * @param load requires the package by a literal, because a bundler cannot resolve a name that is computed at run time
 */
export function requirePeer(packageName: string, subpath: string, load: () => unknown): void {
  try {
    load();
  } catch (cause) {
    if (!isMissing(packageName, cause)) throw cause;
    throw new CronlatchError(`${subpath} needs the package '${packageName}': npm install ${packageName}`, {
      cause,
    });
  }
}

/** Whether the package itself is missing, and not one of its dependencies. */
export function isMissing(packageName: string, error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'MODULE_NOT_FOUND' || error.code === 'ERR_MODULE_NOT_FOUND') &&
    error.message.includes(`'${packageName}'`)
  );
}
