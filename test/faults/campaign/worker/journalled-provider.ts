import type { Lock, LockConfiguration } from 'cronlatch';
import type { LockObserver, LockProvider } from 'cronlatch/provider';
import { machineMs } from '../../../processes/machine-time';
import { overlay } from '../../../storage/contract-mutants/overlay';
import type { Journal } from './journal';

/** Records the requests to a provider, and the answers; changes nothing. */
export class JournalledProvider implements LockProvider {
  readonly id: string | undefined;
  #id = 0;

  constructor(
    private readonly inner: LockProvider,
    private readonly journal: Journal,
  ) {
    this.id = inner.id;
  }

  async lock(configuration: LockConfiguration, observer: LockObserver = {}): Promise<Lock | undefined> {
    const { name, lockAtMostFor, lockAtLeastFor } = configuration;
    const terms = { name, atMostMs: Number(lockAtMostFor), atLeastMs: Number(lockAtLeastFor ?? 0) };
    const id = (this.#id += 1);
    this.journal.write({ k: 'request', id, name });
    let lock: Lock | undefined;
    const extended = (atMostMs: number): void => {
      if (lock !== undefined) {
        // It was sent when the current lease began.
        const sentMs = machineMs() + lock.remainingMs() - atMostMs;
        this.journal.write({ k: 'extended', name, token: lock.fencingToken ?? NaN, sentMs, atMostMs });
      }
      observer.extended?.(atMostMs);
    };
    try {
      lock = await this.inner.lock(configuration, { ...observer, extended });
      const verdict = lock === undefined ? 'held' : 'granted';
      this.journal.write({ k: 'answer', id, verdict, token: lock?.fencingToken, ...terms });
      return lock && journalled(lock, this.journal);
    } catch (error) {
      this.journal.write({ k: 'answer', id, verdict: 'failed', error: String(error), ...terms });
      throw error;
    }
  }
}

/** Records what the holder of a lock does with it. */
function journalled(inner: Lock, journal: Journal): Lock {
  const which = { name: inner.name, token: inner.fencingToken ?? NaN };
  let release: Promise<boolean> | undefined;
  const unlock = async (): Promise<boolean> => {
    journal.write({ k: 'release', ...which });
    try {
      const stillOurs = await inner.unlock();
      journal.write({ k: 'released', ...which, stillOurs });
      return stillOurs;
    } catch (error) {
      journal.write({ k: 'released', ...which, stillOurs: 'failed' });
      throw error;
    }
  };
  const unlockOnce = (): Promise<boolean> => (release ??= unlock());
  return overlay(inner, {
    async extend(lockAtMostFor) {
      const sentMs = machineMs();
      const answer = await inner.extend(lockAtMostFor);
      if (!answer) journal.write({ k: 'refused extension', ...which, sentMs });
      return answer;
    },
    unlock: unlockOnce,
    [Symbol.asyncDispose]: async () => void (await unlockOnce()),
  });
}
