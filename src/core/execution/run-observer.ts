import type { EventHub, LockEvent } from './events';
import type { LockLostError } from '../errors';
import type { LockObserver } from '../lock';
import type { ActiveRun } from './run-registry';

/** Emits the events that only the lock provider can detect. */
export class RunObserver implements LockObserver {
  /** A field and not a getter, so that a provider can pass on `{ ...observer }`. */
  readonly abandonedSignal: AbortSignal;
  /** The holder of the lock when it was refused. */
  holder: { readonly heldBy: string; readonly heldUntil: Date } | undefined;
  readonly #events: EventHub;
  readonly #event: LockEvent;

  constructor({ abandonedSignal }: ActiveRun, events: EventHub, event: LockEvent) {
    this.abandonedSignal = abandonedSignal;
    this.#events = events;
    this.#event = event;
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
