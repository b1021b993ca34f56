import { InvalidLockUseError, type LockPage, type LockProvider, type LockState } from '../core';
import { refuseGone } from '../core/options';

/** Shows the locks of a guard. */
export class GuardLocks {
  constructor(private readonly provider: LockProvider) {}

  /**
   * Lists locks in the store's order of their names, held and free. For the next part of a long list, pass the last name
   * as `after`.
   *
   * @throws InvalidLockUseError if the lock provider cannot list its locks
   * @throws LockStorageError if the store fails
   */
  async list(page: LockPage = {}): Promise<readonly LockState[]> {
    return await methodOf(this.provider, 'list')(page);
  }

  /**
   * @returns `undefined` if the store has no record of this name, so the lock is free
   * @throws InvalidLockUseError if the lock provider cannot show its locks
   * @throws LockStorageError if the store fails
   */
  async inspect(name: string): Promise<LockState | undefined> {
    return await methodOf(this.provider, 'inspect')(name);
  }
}

refuseGone(GuardLocks, 'guard.locks', {
  hold: 'pause',
  unhold: 'resume',
  release: 'release',
  purge: 'purge',
});

/** @throws InvalidLockUseError if the lock provider does not have the method */
export function methodOf<M extends 'inspect' | 'list' | 'forceRelease' | 'purge'>(
  provider: LockProvider,
  method: M,
): NonNullable<LockProvider[M]> {
  const found = provider[method];
  if (found !== undefined) return found.bind(provider) as NonNullable<LockProvider[M]>;
  throw new InvalidLockUseError(
    `This guard's lock provider cannot do that with its locks: it has no method '${method}'.`,
  );
}
