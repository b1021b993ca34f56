import type { LockLostError, LockObserver } from '../../core';
import { afterRealTime } from '../real-time';

/** Runners give up a test after five seconds, and then do not say what it waited for. */
const GIVE_UP_AFTER_MS = 4000;

/** An observer on which a case can wait, instead of for time. */
export class Observed implements LockObserver {
  readonly losses: LockLostError[] = [];
  holder: { heldBy: string; heldUntil: Date } | undefined;
  readonly letLapse?: AbortSignal;
  readonly #waiting = new Map<string, () => void>();

  constructor(letLapse?: AbortSignal) {
    if (letLapse !== undefined) this.letLapse = letLapse;
  }

  readonly extended = (): void => this.#waiting.get('extended')?.();

  readonly lost = (error: LockLostError): void => {
    this.losses.push(error);
    this.#waiting.get('lost')?.();
  };

  readonly refused = (holder: { heldBy: string; heldUntil: Date }): void => void (this.holder = holder);

  /** Resolves when the observer is told the next time. Ask for it before what makes it so. */
  next(what: 'extended' | 'lost'): Promise<void> {
    const told = new Promise<void>((resolve, reject) => {
      const giveUp = (): void =>
        reject(new Error(`The observer was not told '${what}' within ${GIVE_UP_AFTER_MS} ms.`));
      const cancel = afterRealTime(GIVE_UP_AFTER_MS, giveUp);
      this.#waiting.set(what, () => {
        cancel();
        resolve();
      });
    });
    told.catch(() => {}); // For whoever waits; a case that fails before it waits has its own error.
    return told;
  }
}
