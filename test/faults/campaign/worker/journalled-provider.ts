import type { Lock, LockConfiguration } from 'cronlatch';
import type { LockObserver, LockProvider } from 'cronlatch/provider';
import { machineMs } from '../../../processes/machine-time';
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
    let granted: JournalledLock | undefined;
    const extended = (ms: number): void => {
      granted?.noteExtension(ms);
      observer.extended?.(ms);
    };
    try {
      const lock = await this.inner.lock(configuration, { ...observer, extended });
      granted = lock && new JournalledLock(lock, this.journal);
      const verdict = lock === undefined ? 'held' : 'granted';
      this.journal.write({ k: 'answer', id, verdict, token: lock?.fencingToken, ...terms });
      return granted;
    } catch (error) {
      this.journal.write({ k: 'answer', id, verdict: 'failed', error: String(error), ...terms });
      throw error;
    }
  }
}

class JournalledLock implements Lock {
  readonly #token: number;
  #release: Promise<boolean> | undefined;

  constructor(
    private readonly inner: Lock,
    private readonly journal: Journal,
  ) {
    this.#token = inner.fencingToken ?? NaN;
  }

  get name(): string {
    return this.inner.name;
  }
  get fencingToken(): number | undefined {
    return this.inner.fencingToken;
  }
  get signal(): AbortSignal {
    return this.inner.signal;
  }
  remainingMs(): number {
    return this.inner.remainingMs();
  }

  async extend(lockAtMostFor: number): Promise<boolean> {
    const sentMs = machineMs();
    const answer = await this.inner.extend(lockAtMostFor);
    const { name } = this.inner;
    if (!answer) this.journal.write({ k: 'refused extension', name, token: this.#token, sentMs });
    return answer;
  }

  unlock(): Promise<boolean> {
    return (this.#release ??= this.#unlock());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.unlock();
  }

  /** It was sent when the current lease began. */
  noteExtension(atMostMs: number): void {
    const sentMs = machineMs() + this.inner.remainingMs() - atMostMs;
    this.journal.write({ k: 'extended', name: this.inner.name, token: this.#token, sentMs, atMostMs });
  }

  async #unlock(): Promise<boolean> {
    const which = { name: this.inner.name, token: this.#token };
    this.journal.write({ k: 'release', ...which });
    try {
      const stillOurs = await this.inner.unlock();
      this.journal.write({ k: 'released', ...which, stillOurs });
      return stillOurs;
    } catch (error) {
      this.journal.write({ k: 'released', ...which, stillOurs: 'failed' });
      throw error;
    }
  }
}
