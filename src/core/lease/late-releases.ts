import { pause, type Clock } from '../clock';

/** @returns whether it has freed a lock that no job held. Never rejects. */
type SendRelease = (timeoutMs: number) => Promise<boolean>;

interface LateRelease {
  /** When the store has cancelled the last statement that could still take the lock. */
  readonly settledAtMs: number;
  readonly send: SendRelease;
  readonly cancel: () => void;
}

/** How long a closing provider waits before it sends the last of its releases, and then for the answer. */
const LONGEST_WAIT_MS = 4000;
const LONGEST_ANSWER_MS = 500;

const MOST_OWNERS = 1000;

/**
 * Releases of statements that timed out on the client. The store may still execute such a statement, and grant a lock
 * that no job holds. So each release waits until the store has cancelled the statement, too.
 */
export class LateReleases {
  readonly #pending = new Set<LateRelease>();
  readonly #sending = new Set<Promise<boolean>>();
  /** The releases that were sent, by owner. A network may delay a statement until after its release. */
  readonly #sent = new Map<string, SendRelease>();

  constructor(
    private readonly clock: Clock,
    private readonly statementTimeoutMs: number,
  ) {}

  async resend(owner: string, timeoutMs: number): Promise<boolean> {
    return (await this.#sent.get(owner)?.(timeoutMs)) ?? false;
  }

  /** @param lastSentAtMs when the last statement that may still take the lock was sent */
  add(owner: string, send: SendRelease, lastSentAtMs: number): void {
    const onTime = (): void => {
      this.#pending.delete(release);
      this.#remember(owner, send);
      const sending = send(this.statementTimeoutMs).finally(() => this.#sending.delete(sending));
      this.#sending.add(sending);
    };
    const cancel = this.clock.schedule(this.statementTimeoutMs, onTime, { keepAlive: false });
    const release = { settledAtMs: lastSentAtMs + this.statementTimeoutMs, send, cancel };
    this.#pending.add(release);
  }

  /** Sends every pending release at once, and again when its statement is cancelled. Takes 4.5 s at most. */
  async close(): Promise<void> {
    const untilMs = this.clock.monotonicMs() + LONGEST_WAIT_MS;
    const pending = [...this.#pending];
    this.#pending.clear();
    const finished = pending.map((release) => this.#finish(release, untilMs));
    await Promise.all([...this.#sending, ...finished]);
  }

  #remember(owner: string, send: SendRelease): void {
    this.#sent.set(owner, send);
    if (this.#sent.size <= MOST_OWNERS) return;
    const [oldest = owner] = this.#sent.keys();
    this.#sent.delete(oldest);
  }

  async #finish({ settledAtMs, send, cancel }: LateRelease, untilMs: number): Promise<void> {
    cancel();
    const answerMs = (): number =>
      Math.min(this.statementTimeoutMs, untilMs + LONGEST_ANSWER_MS - this.clock.monotonicMs());
    if (await send(answerMs())) return;
    const waitMs = Math.min(settledAtMs, untilMs) - this.clock.monotonicMs();
    if (waitMs <= 0) return;
    await pause(this.clock, waitMs);
    // After a stall of the process, the guard no longer waits for the answer, and can have closed.
    if (answerMs() > 0) await send(answerMs());
  }
}
