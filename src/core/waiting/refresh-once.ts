import { withinLimit } from '../clock';
import { parseDuration, type Duration } from '../duration';
import { JobSkippedError } from '../errors';
import { liveLock } from '../execution/run-registry';
import type { Lock } from '../lock';
import { contextOf, type LockManager } from './lock-manager';
import type { WaitContext } from './lock-wait';

/** @typeParam T the value, which is never `null` or `undefined` */
export interface RefreshOptions<T extends NonNullable<unknown>> {
  readonly manager: LockManager;
  /** The name of the lock, one per shared value. */
  readonly name: string;
  /** Reads the shared value. `null` or `undefined`: there is none. */
  readonly read: () => T | null | undefined | PromiseLike<T | null | undefined>;
  /** Whether the value is returned without a refresh. */
  readonly isFresh: (value: NoInfer<T>) => boolean;
  /** Whether the value still works, so that no caller has to wait for its refresh. */
  readonly isUsable: (value: NoInfer<T>) => boolean;
  /** Creates a value and stores it where `read` finds it. It runs under the lock: stop when `lock.signal` aborts. */
  readonly refresh: (value: NoInfer<T> | undefined, lock: Lock) => NoInfer<T> | PromiseLike<NoInfer<T>>;
  /** How long a crashed refresher blocks the next one. Default: that of the manager. */
  readonly lockAtMostFor?: Duration | undefined;
  /** If there is no usable value: how long to wait for the refresh of another process, or of another call. */
  readonly wait: Duration;
  /** Called if the refresh failed and the usable old value is returned. Default: `guard:warning` reports the error. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A call that has requested the lock. It resolves to `undefined` if the lock was not granted in time. */
type Refresh = Promise<{ readonly value: unknown } | undefined>;

/** The refreshes under way in this process. Other calls share them, so that only one asks for the lock. */
const refreshes = new WeakMap<WaitContext, Map<string, Refresh>>();

/**
 * Returns a shared value, such as an access token, and lets one process refresh it before it expires.
 *
 * - A fresh value is returned without a lock.
 * - A value that is usable but not fresh: the first caller refreshes it. All others get the old value at once.
 * - No usable value: the first caller refreshes it, and the others wait for that.
 *
 * The refresher reads the value again under the lock, and does not refresh a value that turns out to be fresh.
 *
 * @throws the error of `refresh` if there is no usable value, also for the callers of this process that waited for it
 * @throws JobSkippedError if there is still no usable value after `wait`
 * @throws LockStorageError if there is no usable value and it is not certain that the lock was obtained
 */
export async function refreshOnce<T extends NonNullable<unknown>>(options: RefreshOptions<T>): Promise<T> {
  const waitMs = parseDuration(options.wait, `wait of refreshOnce '${options.name}'`);
  const context = contextOf(options.manager);
  const value = await options.read();
  if (value != null && options.isFresh(value)) return value;
  if (value != null && options.isUsable(value)) return await refreshUsable(options, context, value);
  return await refreshMissing(options, context, waitMs);
}

async function refreshUsable<T extends NonNullable<unknown>>(
  options: RefreshOptions<T>,
  context: WaitContext,
  old: T,
): Promise<T> {
  if (refreshUnderWay(options.name, context) !== undefined) return old;
  try {
    return (await startRefresh(options, context, 0))?.value ?? old;
  } catch (error) {
    if (!options.isUsable(old)) throw error;
    const message = `Could not refresh '${options.name}'. The old value is used.`;
    if (options.onError !== undefined) options.onError(error);
    else context.events.warn(message, error);
    return old;
  }
}

async function refreshMissing<T extends NonNullable<unknown>>(
  options: RefreshOptions<T>,
  context: WaitContext,
  waitMs: number,
): Promise<T> {
  const { clock } = context;
  const endsAtMs = clock.monotonicMs() + waitMs;
  for (let leftMs = waitMs; ; leftMs = endsAtMs - clock.monotonicMs()) {
    const shared = refreshUnderWay(options.name, context);
    const refresh = shared ?? startRefresh(options, context, Math.max(0, leftMs));
    // Our own refresh may take its time, but no call waits longer for that of another one.
    const refreshed = shared === undefined ? await refresh : await withinLimit(clock, refresh, leftMs);
    if (typeof refreshed === 'object') return refreshed.value as T;
    if (clock.monotonicMs() >= endsAtMs) break;
  }
  const value = await options.read();
  if (value != null && options.isUsable(value)) return value;
  throw new JobSkippedError(
    `Could not refresh '${options.name}': another call held its lock for the whole wait of ${waitMs} ms, and there is no usable value. Check why its refresh takes so long, or wait longer.`,
  );
}

function refreshUnderWay(name: string, context: WaitContext): Refresh | undefined {
  // A refresh of another call waits for this lease to end.
  if (liveLock(context.provider, name) !== undefined) return undefined;
  return refreshes.get(context)?.get(name);
}

function startRefresh<T extends NonNullable<unknown>>(
  { manager, name, lockAtMostFor, read, isFresh, refresh }: RefreshOptions<T>,
  context: WaitContext,
  waitMs: number,
): Promise<{ readonly value: T } | undefined> {
  const ofContext = refreshes.get(context) ?? new Map<string, Refresh>();
  refreshes.set(context, ofContext);
  const started = manager
    .withLock({ name, lockAtMostFor }, { wait: waitMs }, async (lock) => {
      const value = await read(); // Another process may have refreshed it before the lock was granted.
      if (value != null && isFresh(value)) return { value };
      return { value: await refresh(value ?? undefined, lock) };
    })
    .finally(() => {
      if (ofContext.get(name) === started) ofContext.delete(name);
    });
  ofContext.set(name, started);
  return started;
}
