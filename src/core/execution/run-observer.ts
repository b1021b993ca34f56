import type { EventHub, LockEvent } from './events';
import type { LockLostError } from '../errors';
import type { LockObserver } from '../lock';
import type { ActiveRun } from './run-registry';

/** Tells of a run's lock what only its provider can see. */
export class RunObserver implements LockObserver {
  declare readonly letLapse: AbortSignal;
  /** Whoever had the lock when it was refused and looked at. */
  holder: { readonly heldBy: string; readonly heldUntil: Date } | undefined;
  readonly #run: ActiveRun;
  readonly #events: EventHub;
  readonly #event: LockEvent;

  /** One for all: V8 makes a hidden class for every other getter. Own, for a provider that passes on `{ ...observer }`. */
  static readonly #LET_LAPSE = {
    enumerable: true,
    get(this: RunObserver): AbortSignal {
      return this.#run.lapseSignal;
    },
  };

  constructor(run: ActiveRun, events: EventHub, event: LockEvent) {
    this.#run = run;
    this.#events = events;
    this.#event = event;
    Object.defineProperty(this, 'letLapse', RunObserver.#LET_LAPSE);
  }

  readonly refused = (holder: { heldBy: string; heldUntil: Date }): void => {
    this.holder = holder;
  };

  readonly extended = (lockAtMostForMs: number): void =>
    this.#events.emit('lock:extended', { ...this.#event, lockAtMostForMs });

  readonly lost = (error: LockLostError): void => this.#events.emit('lock:lost', { ...this.#event, error });

  readonly warning = (message: string, error: unknown): void =>
    this.#events.emit('guard:warning', { message, error });
}
