import type { Clock, ExtensionRequest, LockRequest, StatementOptions } from '../../../core';
import { LONGEST_OWNER, RELEASED_MARK } from '../../../core/lease/owner';
import { SqlExecutionError, writtenRows, type SendInTurn, type SqlRow } from '../statements/statement';
import { driverErrorOf } from '../statements/sql-failure';
import type { GroupedWrite } from '../dialects/sql-dialect';
import { WaitingRequests } from '../tables/waiting-requests';
import type { LockStatements } from './lock-statements';
import {
  describeLock,
  parametersOf,
  recordIn,
  SqlStorageAccessor,
  type SentStatement,
  type SqlStorageOptions,
  type WriteRequest,
} from './sql-storage-accessor';

/** The most locks of one statement. With larger groups, one process would get all jobs that are due together. */
const LARGEST_GROUP = 50;

export interface GroupingStorageOptions extends SqlStorageOptions {
  readonly clock: Clock;
  /** Between 0 and 1. */
  readonly random: () => number;
  /** With less time, a lock travels alone: if another lock's row is locked, the time must suffice for a second try. */
  readonly shortestLimitMs: number;
  /** `1`: a single lock is sent as a group, too. Default 2. */
  readonly smallestGroup?: 1 | 2 | undefined;
}

/** Requests that wait for a connection share a statement. One that finds a free connection is sent alone, at once. */
export class GroupingStorageAccessor extends SqlStorageAccessor {
  readonly #waiting: Readonly<Record<GroupedWrite, WaitingWrites>>;
  #released: number;

  constructor(private readonly grouping: GroupingStorageOptions) {
    super(grouping);
    this.#released = Math.floor(grouping.random() * 36 ** 6);
    const waiting = (key: GroupedWrite): WaitingWrites => {
      const rotation = new Rotation(grouping.random);
      return new WaitingRequests(this.tables, {
        clock: grouping.clock,
        // While claims of runs wait, the releases of those that have ended come after them, as one group.
        priority: key === 'unlock' ? 'release' : key === 'extend' ? 'lease' : 'other',
        subjectOf: describeLock,
        companions: (first, others, { group }) =>
          group === undefined ? [] : rotation.companions(first, others),
        answersTo: answersTo(key, grouping),
      });
    };
    const [takeOver, insertFree] = [waiting('takeOver'), waiting('insertFree')];
    this.#waiting = { takeOver, insertFree, extend: waiting('extend'), unlock: waiting('unlock') };
  }

  override async updateRecord(
    request: LockRequest,
    options: StatementOptions,
  ): ReturnType<SqlStorageAccessor['updateRecord']> {
    const { timeoutMs, connectionWaitMs = 0 } = options;
    if (this.#isAlone('takeOver', timeoutMs)) return await super.updateRecord(request, options);
    const waitsUntilMs = this.grouping.clock.monotonicMs() + connectionWaitMs;
    /** The rest of both times. */
    const rest = (): StatementOptions => {
      const restMs = waitsUntilMs - this.grouping.clock.monotonicMs();
      return {
        ...options,
        timeoutMs: timeoutMs + Math.min(0, restMs),
        connectionWaitMs: Math.max(0, restMs),
      };
    };
    for (const key of ['takeOver', 'insertFree'] as const) {
      const answer = await this.#waiting[key].send(request, rest());
      if ('result' in answer) return this.grantIn(answer, 'takeOver', request, rest());
      const record = answer.row && recordIn(answer.row, answer.statements);
      if (record === undefined) continue;
      if (record.held && record.lockedBy === request.owner) return { fencingToken: record.fencingToken };
      if (record.held) return { heldBy: record };
      // The lock was released just now, or another session was writing its row.
      return await super.updateRecord(request, rest());
    }
    // The request for a single row shows why it was not inserted.
    return 'missing';
  }

  override extend(request: ExtensionRequest, options: StatementOptions): Promise<boolean> {
    if (this.#isAlone('extend', options.timeoutMs)) return super.extend(request, options);
    return this.#write('extend', request, options);
  }

  override unlock(request: LockRequest, options: StatementOptions): Promise<boolean> {
    if (this.#isAlone('unlock', options.timeoutMs)) return super.unlock(request, options);
    // Not only the mark: the row could have had that from an earlier release.
    const nextOwner = `${request.owner}/${(this.#released += 1).toString(36)}${RELEASED_MARK}`;
    if (nextOwner.length > LONGEST_OWNER) return super.unlock(request, options);
    return this.#write('unlock', { ...request, nextOwner }, options);
  }

  #isAlone(key: GroupedWrite, timeoutMs: number): boolean {
    const { smallestGroup = 2, shortestLimitMs } = this.grouping;
    return smallestGroup > 1 && (this.#waiting[key].isFree || timeoutMs < shortestLimitMs);
  }

  async #write(
    key: 'extend' | 'unlock',
    request: ExtensionRequest,
    options: StatementOptions,
  ): Promise<boolean> {
    const answer = await this.#waiting[key].send(request, options);
    if ('result' in answer) return this.tables.hasWritten(answer.result, describeLock(request));
    return answer.row?.['locked_by'] === request.nextOwner;
  }
}

type WaitingWrites = WaitingRequests<WriteRequest, Answer, LockStatements>;

/** The answer to a lock's own statement, or its row after the statement of its group. Both come from the primary. */
type Answer = SentStatement | { readonly row: SqlRow | undefined; readonly statements: LockStatements };

function answersTo(key: GroupedWrite, { dialect, smallestGroup = 2 }: GroupingStorageOptions) {
  const write = key === 'insertFree' ? 'takeOver' : key;
  return async (
    requests: readonly [WriteRequest, ...WriteRequest[]],
    send: SendInTurn,
    statements: LockStatements,
  ): Promise<readonly Answer[]> => {
    const { group } = statements;
    const isSingle = requests.length < smallestGroup && key !== 'insertFree';
    if (isSingle || group === undefined)
      return [{ result: await send(statements[write].bind(parametersOf(requests[0]))), statements }];
    const members = requests.map(parametersOf);
    if (key === 'insertFree') await send(group.write(key, [...members].sort(byName)));
    const result = await send(group.write(write, members));
    if (group.read !== undefined && writtenRows(result, dialect) === members.length)
      return members.map(() => ({ result: { ...result, affectedRows: 1 }, statements }));
    const { rows } =
      group.read === undefined ? result : await send(group.read(members)).catch(outcomeUnknown);
    const rowOf = new Map(rows.map((row) => [String(row['name']), row]));
    return members.map(({ name }) => ({ row: rowOf.get(name), statements }));
  };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

/** The locks are written already. So no error may report that nothing ran. */
function outcomeUnknown(error: unknown): never {
  throw new SqlExecutionError(driverErrorOf(error).message, 'sent');
}

/** Chooses locks with different names. */
class Rotation {
  /** The name that the last group ended with. */
  #after: string | undefined;

  constructor(private readonly random: () => number) {}

  /**
   * Each group continues after the names of the last one, and every process begins elsewhere, so that they do not compete
   * for the same locks.
   */
  companions<Request extends WriteRequest>(first: Request, others: readonly Request[]): readonly Request[] {
    const namesakes = new Map(others.map((request) => [request.name, request]));
    namesakes.delete(first.name);
    const sorted = [...namesakes.values()].sort(byName);
    const after = (this.#after ??= sorted[Math.floor(this.random() * sorted.length)]?.name);
    const next = sorted.findIndex(({ name }) => after !== undefined && name > after);
    const chosen = [...sorted.splice(Math.max(0, next)), ...sorted].slice(0, LARGEST_GROUP - 1);
    this.#after = chosen.at(-1)?.name ?? after;
    return chosen;
  }
}
