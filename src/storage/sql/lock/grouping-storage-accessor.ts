import type { Clock, ExtensionRequest, Grant, LockRequest, StatementOptions } from '../../../core';
import { LONGEST_OWNER, RELEASED_MARK } from '../../../core/lease/owner';
import type { SendInTurn, SqlResult } from '../connections/sql-executor';
import type { LockStatements } from './lock-statements';
import {
  parametersOf,
  recordIn,
  SqlStorageAccessor,
  type SentStatement,
  type SqlStorageOptions,
  type WriteRequest,
} from './sql-storage-accessor';

/** The most locks of one statement. With larger groups, one process would get all jobs that are due together. */
const LARGEST_GROUP = 50;

/** After a group has failed, for so long each lock travels alone: a row that is locked by hand then stops one lock only. */
const ALONE_MS = 10_000;

export interface GroupingStorageOptions extends SqlStorageOptions {
  readonly clock: Clock;
  /** Between 0 and 1. */
  readonly random: () => number;
  /** Fewer locks than this are sent one by one. Default 2. */
  readonly smallestGroup?: number | undefined;
}

/**
 * Sends requests that wait for a connection in one statement. A request that finds a free connection is sent at once and
 * alone.
 */
export class GroupingStorageAccessor extends SqlStorageAccessor {
  readonly #takeOvers: WaitingRequests<LockRequest>;
  readonly #extensions: WaitingRequests<ExtensionRequest>;
  readonly #releases: WaitingRequests<ExtensionRequest>;
  readonly #clock: Clock;
  #released: number;

  constructor(options: GroupingStorageOptions) {
    super(options);
    this.#clock = options.clock;
    this.#released = Math.floor(options.random() * 36 ** 6);
    this.#takeOvers = new WaitingRequests(this, 'takeOver', options);
    this.#extensions = new WaitingRequests(this, 'extend', options);
    this.#releases = new WaitingRequests(this, 'unlock', options);
  }

  override async updateRecord(
    request: LockRequest,
    { timeoutMs }: StatementOptions,
  ): Promise<Grant | 'held' | 'missing' | undefined> {
    const endsAtMs = this.#clock.monotonicMs() + timeoutMs;
    const answer = await this.#takeOvers.send(request, endsAtMs);
    if ('result' in answer) return await this.grantIn(answer, 'takeOver', request, { timeoutMs });
    const record = answer.row && recordIn(answer.row, answer.statements);
    if (record === undefined) return 'missing';
    if (record.lockedBy === request.owner) return { fencingToken: record.fencingToken };
    if (record.held) return 'held';
    // The lock was released just now, or another session was writing its row.
    return await super.updateRecord(request, { timeoutMs: endsAtMs - this.#clock.monotonicMs() });
  }

  override async extend(request: ExtensionRequest, { timeoutMs }: StatementOptions): Promise<boolean> {
    const answer = await this.#extensions.send(request, this.#clock.monotonicMs() + timeoutMs);
    return this.#isWritten(answer, request);
  }

  override async unlock(request: LockRequest, { timeoutMs }: StatementOptions): Promise<boolean> {
    // Not only the mark: the row could have had that from an earlier release.
    const nextOwner = `${request.owner}/${(this.#released += 1).toString(36)}${RELEASED_MARK}`;
    if (nextOwner.length > LONGEST_OWNER) return await super.unlock(request, { timeoutMs });
    const releases = { ...request, nextOwner };
    const answer = await this.#releases.send(releases, this.#clock.monotonicMs() + timeoutMs);
    return this.#isWritten(answer, releases);
  }

  #isWritten(answer: Answer, request: ExtensionRequest): boolean {
    if ('result' in answer) return this.hasWritten(answer.result, request);
    return answer.row?.['locked_by'] === request.nextOwner;
  }
}

/** The answer to a lock's own statement, or its row after the statement of its group. */
type Answer = SentStatement | { readonly row: SqlRow | undefined; readonly statements: LockStatements };

type SqlRow = SqlResult['rows'][number];

interface Member<Request> {
  readonly request: Request;
  /** On the monotonic clock. */
  readonly endsAtMs: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests of one kind. Each of them waits for a connection, and the first that gets one takes others along. */
class WaitingRequests<Request extends WriteRequest> {
  readonly #waiting = new Set<Member<Request>>();
  /** The name that the last group ended with. */
  #after: string | undefined;
  #aloneUntilMs = -Infinity;

  constructor(
    private readonly accessor: SqlStorageAccessor,
    private readonly key: 'takeOver' | 'extend' | 'unlock',
    private readonly options: GroupingStorageOptions,
  ) {}

  send(request: Request, endsAtMs: number): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const member = { request, endsAtMs, resolve, reject };
      this.#waiting.add(member);
      void this.#sendGroup(member);
    });
  }

  /** Never rejects. */
  async #sendGroup(first: Member<Request>): Promise<void> {
    const { key, accessor, options } = this;
    let group: readonly Member<Request>[] = [];
    try {
      const answers = await accessor.inTurn(
        async (send, statements) => {
          group = this.#take(first, statements);
          return await this.#answersTo(group, send, statements);
        },
        { timeoutMs: first.endsAtMs - options.clock.monotonicMs(), urgent: key !== 'takeOver' },
      );
      for (const [number, answer] of answers.entries()) group[number]?.resolve(answer);
    } catch (error) {
      if (group.length > 1) this.#aloneUntilMs = options.clock.monotonicMs() + ALONE_MS;
      // Without a connection, nothing was sent. Then only this request is too late, unless it has travelled already.
      const failed = group.length === 0 && this.#waiting.delete(first) ? [first] : group;
      for (const { request, reject } of failed) reject(accessor.failureOf(error, request));
    }
  }

  async #answersTo(
    group: readonly Member<Request>[],
    send: SendInTurn,
    statements: LockStatements,
  ): Promise<readonly Answer[]> {
    const { key, options } = this;
    const [first] = group;
    if (first === undefined) return [];
    if (group.length < (options.smallestGroup ?? 2) || statements.group === undefined)
      return [{ result: await send(statements[key].bind(parametersOf(first.request))), statements }];
    const members = group.map(({ request }) => parametersOf(request));
    const written = options.dialect.writtenRows(await send(statements.group(key, members)));
    if (key !== 'takeOver' && written === members.length)
      return members.map(({ nextOwner }) => ({ row: { locked_by: nextOwner }, statements }));
    const { rows } = await send(statements.group('inspect', members));
    const byName = new Map(rows.map((row) => [String(row['name']), row]));
    return members.map(({ name }) => ({ row: byName.get(name), statements }));
  }

  /**
   * Takes the first request and others with different names, in the order of their names. Each group continues after the
   * names of the last one, and every process begins elsewhere, so that they do not compete for the same locks.
   */
  #take(first: Member<Request>, { group }: LockStatements): readonly Member<Request>[] {
    if (!this.#waiting.delete(first)) return [];
    if (this.#waiting.size === 0 || group === undefined) return [first];
    if (this.options.clock.monotonicMs() < this.#aloneUntilMs) return [first];
    const byName = new Map<string, Member<Request>>();
    // One that ends earlier than the statement waits for its own turn.
    for (const member of this.#waiting)
      if (member.endsAtMs >= first.endsAtMs) byName.set(member.request.name, member);
    byName.delete(first.request.name);
    const others = [...byName.values()].sort((a, b) => (a.request.name < b.request.name ? -1 : 1));
    const after = (this.#after ??= others[Math.floor(this.options.random() * others.length)]?.request.name);
    const next = others.findIndex(({ request }) => after !== undefined && request.name > after);
    const taken = [...others.splice(next === -1 ? 0 : next), ...others].slice(0, LARGEST_GROUP - 1);
    this.#after = taken.at(-1)?.request.name;
    for (const member of taken) this.#waiting.delete(member);
    return [first, ...taken];
  }
}
