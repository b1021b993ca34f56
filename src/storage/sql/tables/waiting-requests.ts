import type { Clock, StatementOptions } from '../../../core';
import type { Priority, SendInTurn } from '../statements/statement';
import type { VerifiedTables } from './verified-tables';

/** Its times are on the monotonic clock. */
interface Waiting<Answer> extends StatementOptions {
  readonly sinceMs: number;
  /** When it gives up, with `connectionWaitMs`. */
  readonly endsAtMs: number;
  /** The half of a refused group that it travels with. */
  readonly half?: object;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** After a group has failed, for so long each request travels alone. */
const ALONE_MS = 10_000;

/** Settles when all code that can run now has run. No timer and no event is in between. */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/**
 * Requests of one kind that wait for a connection. One of them asks for it, and takes others along when it gets it. A request
 * that ends earlier asks, too, so that each waits within its own time limit.
 */
export class WaitingRequests<Request extends object, Answer, Statements> {
  readonly #waiting = new Map<Request, Waiting<Answer>>();
  /** Those that ask for a connection, and when they end. */
  readonly #asking = new Map<Request, number>();
  #aloneUntilMs = -Infinity;
  /** Whether the last request had others beside it. Then the next one waits for the others of its turn. */
  #hasCompany = false;

  constructor(
    private readonly tables: VerifiedTables<Statements>,
    private readonly options: {
      readonly clock: Clock;
      readonly priority?: Priority;
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
    },
  ) {}

  /** `true`: a request that waits gains nothing, so send it on its own. */
  get isFree(): boolean {
    return !this.#hasCompany && this.tables.isFree(this.options.priority);
  }

  send(request: Request, options: StatementOptions): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const sinceMs = this.options.clock.monotonicMs();
      const endsAtMs = sinceMs + options.timeoutMs + (options.connectionWaitMs ?? 0);
      const own = { ...request }; // The caller may send the same object twice.
      this.#waiting.set(own, { sinceMs, endsAtMs, resolve, reject, ...options });
      if (endsAtMs < this.#nextEndMs) void this.#sendGroup(own, endsAtMs);
    });
  }

  /** The earliest end of a request that asks for a connection. */
  get #nextEndMs(): number {
    return Math.min(...this.#asking.values());
  }

  /** Of those that were left behind, the one that ends first asks next. */
  #askForNext(): void {
    let next: Request | undefined;
    let nextEndMs = this.#nextEndMs;
    for (const [request, { endsAtMs }] of this.#waiting)
      if (endsAtMs < nextEndMs) [next, nextEndMs] = [request, endsAtMs];
    if (next !== undefined) void this.#sendGroup(next, nextEndMs);
  }

  /** Never rejects. */
  async #sendGroup(first: Request, endsAtMs: number): Promise<void> {
    const { clock, priority, subjectOf, answersTo } = this.options;
    const own = this.#waiting.get(first);
    const group = new Map<Request, Waiting<Answer>>();
    this.#asking.set(first, endsAtMs);
    const use = async (send: SendInTurn, statements: Statements): Promise<void> => {
      for (const request of this.#chosen(first, statements)) this.#move(request, group);
      this.#hasCompany = group.size > 1;
      this.#asking.delete(first);
      this.#askForNext();
      const [one, ...others] = group.keys();
      if (one === undefined) return;
      for (const { onSending } of group.values()) onSending?.();
      const answers = await answersTo([one, ...others], send, statements);
      for (const [number, { resolve }] of [...group.values()].entries()) resolve(answers[number] as Answer);
    };
    try {
      if (this.#hasCompany) await endOfTurn();
      const leftMs = endsAtMs - clock.monotonicMs();
      const { timeoutMs = leftMs, sinceMs } = own ?? {};
      const limits = {
        timeoutMs: Math.min(timeoutMs, leftMs),
        connectionWaitMs: Math.max(0, leftMs - timeoutMs),
      };
      await this.tables.inTurn(use, { ...limits, priority, sinceMs });
    } catch (error) {
      if (group.size > 1 && this.tables.isRefused(error)) return this.#sendHalves([...group], error);
      if (group.size > 1) this.#aloneUntilMs = clock.monotonicMs() + ALONE_MS;
      // Without a connection, nothing was sent. Then only this request is too late, unless it has travelled already.
      const hasAsked = this.#asking.delete(first);
      if (hasAsked) this.#move(first, group);
      for (const [request, { reject }] of group) reject(this.tables.failureOf(error, subjectOf(request)));
      // What failed for this one can fail for all. So none of the others waits for another one.
      for (const [request, waiting] of hasAsked ? this.#waiting : [])
        if (!this.#asking.has(request)) void this.#sendGroup(request, waiting.endsAtMs);
    }
  }

  #chosen(first: Request, statements: Statements): readonly Request[] {
    const { clock, companions } = this.options;
    const own = this.#waiting.get(first);
    if (own === undefined) return []; // It has travelled with another one.
    if (this.#waiting.size === 1 || clock.monotonicMs() < this.#aloneUntilMs) return [first];
    const endMs = ({ timeoutMs, endsAtMs }: Waiting<Answer>): number =>
      Math.min(clock.monotonicMs() + timeoutMs, endsAtMs);
    const ownEndMs = endMs(own);
    const others = [...this.#waiting]
      // One that ends earlier than the statement waits for its own turn.
      .filter(([request, each]) => request !== first && each.half === own.half && endMs(each) >= ownEndMs)
      .map(([request]) => request);
    return [first, ...companions(first, others, statements)];
  }

  /** The database refused a group because of one of its requests, such as a name that the column cannot store. */
  #sendHalves(group: readonly [Request, Waiting<Answer>][], error: unknown): void {
    this.tables.failureOf(error, undefined); // The next statement verifies the tables again, if need be.
    const middle = Math.ceil(group.length / 2);
    for (const part of [group.slice(0, middle), group.slice(middle)]) {
      const half = {};
      for (const [request, waiting] of part) this.#waiting.set(request, { ...waiting, half });
      const [first] = part.sort(([, a], [, b]) => a.endsAtMs - b.endsAtMs);
      if (first !== undefined) void this.#sendGroup(first[0], first[1].endsAtMs);
    }
  }

  #move(request: Request, group: Map<Request, Waiting<Answer>>): void {
    const waiting = this.#waiting.get(request);
    if (waiting === undefined) return;
    this.#waiting.delete(request);
    group.set(request, waiting);
  }
}
