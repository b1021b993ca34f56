import { momentOf, type Clock, type Moment } from '../../../core/clock';
import { Deadline } from '../../../core/lease/deadline';

const INTERVAL_MS = 1000;

/** After this time without a statement, the server ends the session, and the holder no longer trusts it. */
export const IDLE_MS = 5000;

/**
 * Confirms every second that the transaction of a lock is still open. The holder trusts its connection until `IDLE_MS`
 * after the last confirmed statement was sent. The server counts from its arrival, so it frees the lock later.
 */
export class Heartbeat {
  #trusted: Deadline;
  #isStopped = false;
  #cancel = (): void => {};

  /**
   * @param sentAt when the statement was sent that locked the row
   * @param onLost called at most once
   */
  constructor(
    private readonly clock: Clock,
    sentAt: Moment,
    private readonly ping: (endsAtMs: number) => Promise<void>,
    private readonly onLost: (reason: string) => void,
  ) {
    this.#trusted = Deadline.of(sentAt, IDLE_MS);
    this.#schedule(sentAt);
  }

  /** Why the connection can no longer be trusted; `undefined` while it can. */
  expiryReason(): string | undefined {
    if (this.#isStopped || this.#trusted.expiryReason(this.clock) === undefined) return undefined;
    return `the database has not confirmed its transaction for ${IDLE_MS} ms`;
  }

  /** @returns whether the transaction is still open */
  async confirm(): Promise<boolean> {
    if (this.#isStopped) return false;
    const sentAt = momentOf(this.clock);
    try {
      await this.ping(this.#trusted.monotonicMs);
    } catch (error) {
      this.#lose(`its transaction has ended: ${(error as Error).message}`);
      return false;
    }
    this.#trusted = Deadline.of(sentAt, IDLE_MS);
    return !this.#isStopped;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #schedule({ monotonicMs }: Moment): void {
    const inMs = monotonicMs + INTERVAL_MS - this.clock.monotonicMs();
    this.#cancel = this.clock.schedule(inMs, () => void this.#beat(), { keepAlive: false });
  }

  async #beat(): Promise<void> {
    const reason = this.expiryReason();
    if (reason !== undefined) return this.#lose(reason);
    const sentAt = momentOf(this.clock);
    if (await this.confirm()) this.#schedule(sentAt);
  }

  #lose(reason: string): void {
    if (this.#isStopped) return;
    this.stop();
    this.onLost(reason);
  }
}
