/** The types of locks that wait: this file is compiled, and never run. */
import { refreshOnce, type Lock, type LockManager } from 'cronlatch';

interface Token {
  readonly expiresAt: number;
}

export async function locked(manager: LockManager): Promise<void> {
  const lock: Lock = await manager.lock('a', { signal: AbortSignal.timeout(1000) });
  const maybe: Lock | undefined = await manager.tryLock({ name: 'a', lockAtMostFor: '1m' }, { wait: '5s' });
  const count: number = await manager.withLock('a', () => 1);
  const soon: number | undefined = await manager.withLock('a', { wait: '5s' }, () => Promise.resolve(1));
  const endless: number = await manager.withLock('a', { signal: lock.signal }, () => 1);
  // @ts-expect-error -- the lock may not have been granted in time
  const certain: number = await manager.withLock('a', { wait: '5s' }, () => 1);
  // @ts-expect-error -- lock waits without a limit
  await manager.lock('a', { wait: '5s' });
  const notAMethod: Exclude<'unlock', keyof LockManager> = 'unlock'; // Only the handle unlocks.
  void [notAMethod, maybe, count, soon, endless, certain];
}

export async function refreshed(manager: LockManager, find: () => Promise<Token | null>): Promise<Token> {
  const common = { manager, name: 'token', lockAtMostFor: '10s', wait: '5s' } as const;
  await refreshOnce({
    ...common,
    read: find,
    isFresh: () => true,
    isUsable: () => true,
    // @ts-expect-error -- the value is a token
    refresh: () => 'token',
  });
  // @ts-expect-error -- without isUsable, it is unknown who must wait
  await refreshOnce({ ...common, read: find, isFresh: () => true, refresh: () => ({ expiresAt: 1 }) });
  return await refreshOnce({
    ...common,
    read: find,
    isFresh: (token) => token.expiresAt > Date.now() + 60_000,
    isUsable: ({ expiresAt }) => expiresAt > Date.now(),
    refresh: (old, lock) => ({ expiresAt: (old?.expiresAt ?? 0) + lock.remainingMs() }),
  });
}
