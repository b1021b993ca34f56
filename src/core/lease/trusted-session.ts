import { Deadline, momentOf, type Clock, type Moment } from '../clock';

interface SessionProof {
  readonly clock: Clock;
  readonly intervalMs: () => number;
  /** How long the holder trusts the session after a proof was sent. */
  readonly trustedForMs: () => number;
  readonly describeExpiry: () => string;
  /** Resolves to why the session has ended, or to `undefined`. Must not reject. */
  readonly send: (trusted: Deadline) => Promise<string | undefined>;
  /** Must call `stop`. */
  readonly onLost: (reason: string) => void;
}

/**
 * The session of a lock that the store frees when the session ends. It is proved regularly, and the holder trusts it for
 * a limited time after the last proof was sent. The server counts from its arrival, so it frees the lock later.
 */
export class TrustedSession {
  #trusted: Deadline;
  #proving: Promise<boolean> | undefined;
  isStopped = false;
  #cancel = (): void => {};

  /** @param sentAt when the statement was sent that took the lock */
  constructor(
    private readonly proof: SessionProof,
    sentAt: Moment,
  ) {
    this.#trusted = new Deadline(sentAt, proof.trustedForMs());
    this.#plan();
  }

  /** Why the session can no longer be trusted; `undefined` while it can, and after `stop`. */
  expiryReason(): string | undefined {
    const { clock, describeExpiry } = this.proof;
    if (this.isStopped || this.#trusted.expiryReason(clock) === undefined) return undefined;
    return describeExpiry();
  }

  /** Another statement, sent then, has proved the session. */
  trustFrom(sentAt: Moment): void {
    this.#trusted = new Deadline(sentAt, this.proof.trustedForMs());
  }

  /** @returns whether the session has been proved. The next proof follows after the interval. */
  prove(): Promise<boolean> {
    return (this.#proving ??= this.#prove().finally(() => (this.#proving = undefined)));
  }

  stop(): void {
    this.isStopped = true;
    this.#cancel();
  }

  async #prove(): Promise<boolean> {
    if (this.isStopped) return false;
    const { clock, send, onLost } = this.proof;
    const sentAt = momentOf(clock);
    const reason = this.expiryReason() ?? (await send(this.#trusted));
    if (this.isStopped) return false;
    if (reason === undefined) {
      this.trustFrom(sentAt);
      this.#plan();
    } else onLost(reason);
    return reason === undefined;
  }

  #plan(): void {
    const { clock, intervalMs } = this.proof;
    this.#cancel();
    const inMs = this.#trusted.sentAt.monotonicMs + intervalMs() - clock.monotonicMs();
    this.#cancel = clock.schedule(Math.max(0, inMs), () => void this.prove(), { keepAlive: false });
  }
}
