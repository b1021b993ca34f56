import type { Clock } from '../../../core';
import type { SendInTurn } from '../connections/sql-executor';
import type { VerifiedTables } from './verified-tables';

/** How requests of one kind travel together. */
export interface GroupOptions<Request, Answer, Statements> {
  readonly clock: Clock;
  /** See `ExecuteOptions`. */
  readonly urgent: boolean;
  /** What a request is about, for its error. */
  readonly subjectOf: (request: Request) => string;
  /** Chooses those that travel with the first one. */
  readonly companions: (
    first: Request,
    others: readonly Request[],
    statements: Statements,
  ) => readonly Request[];
  /** Sends the statements of a group, and returns an answer for each of its requests. */
  readonly answersTo: (
    group: readonly [Request, ...Request[]],
    send: SendInTurn,
    statements: Statements,
  ) => Promise<readonly Answer[]>;
}

interface Waiting<Answer> {
  /** On the monotonic clock. */
  readonly endsAtMs: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** After a group has failed, for so long each request travels alone. */
const ALONE_MS = 10_000;

/**
 * Requests of one kind that wait for a connection. Each waits on its own, within its own time limit, and the first that gets
 * a connection takes others along.
 */
export class WaitingRequests<Request extends object, Answer, Statements> {
  readonly #waiting = new Map<Request, Waiting<Answer>>();
  #aloneUntilMs = -Infinity;

  constructor(
    private readonly tables: VerifiedTables<Statements>,
    private readonly options: GroupOptions<Request, Answer, Statements>,
  ) {}

  /** `true`: a request that waits gains nothing, so send it on its own. */
  get isFree(): boolean {
    return this.tables.isFree(this.options);
  }

  send(request: Request, timeoutMs: number): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const endsAtMs = this.options.clock.monotonicMs() + timeoutMs;
      const own = { ...request }; // The caller may send the same object twice.
      this.#waiting.set(own, { endsAtMs, resolve, reject });
      void this.#sendGroup(own, timeoutMs);
    });
  }

  /** Never rejects. */
  async #sendGroup(first: Request, timeoutMs: number): Promise<void> {
    const { clock, urgent, subjectOf, answersTo } = this.options;
    const group = new Map<Request, Waiting<Answer>>();
    const use = async (send: SendInTurn, statements: Statements): Promise<void> => {
      for (const request of this.#chosen(first, statements)) this.#move(request, group);
      const [one, ...others] = group.keys();
      if (one === undefined) return;
      const answers = await answersTo([one, ...others], send, statements);
      for (const [number, { resolve }] of [...group.values()].entries()) resolve(answers[number] as Answer);
    };
    try {
      await this.tables.inTurn(use, { timeoutMs, urgent });
    } catch (error) {
      if (group.size > 1) this.#aloneUntilMs = clock.monotonicMs() + ALONE_MS;
      // Without a connection, nothing was sent. Then only this request is too late, unless it has travelled already.
      if (group.size === 0) this.#move(first, group);
      for (const [request, { reject }] of group) reject(this.tables.failureOf(error, subjectOf(request)));
    }
  }

  #chosen(first: Request, statements: Statements): readonly Request[] {
    const { clock, companions } = this.options;
    const own = this.#waiting.get(first);
    if (own === undefined) return []; // It has travelled with another one.
    if (this.#waiting.size === 1 || clock.monotonicMs() < this.#aloneUntilMs) return [first];
    const others = [...this.#waiting]
      // One that ends earlier than the statement waits for its own turn.
      .filter(([request, { endsAtMs }]) => request !== first && endsAtMs >= own.endsAtMs)
      .map(([request]) => request);
    return [first, ...companions(first, others, statements)];
  }

  #move(request: Request, group: Map<Request, Waiting<Answer>>): void {
    const waiting = this.#waiting.get(request);
    if (waiting === undefined) return;
    this.#waiting.delete(request);
    group.set(request, waiting);
  }
}
