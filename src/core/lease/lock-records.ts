import { describeValue } from '../options';
import { InvalidLockConfigurationError, InvalidLockUseError } from '../errors';
import type { LockPage, LockState } from '../lock';
import { checkLockName } from '../lock-name';
import { LeaseOwner } from './owner';
import { sendWithin, storageErrorOf, unlockUntil, type StatementContext } from './statements';
import type { NamedLockRecord, StatementOptions } from './storage-accessor';

const DEFAULT_LIMIT = 100;
/** For messages about statements that concern no single lock. */
const ALL_LOCKS = '*';

/** What an operator can do with the locks of a store. */
export class LockRecords {
  constructor(
    private readonly context: StatementContext,
    private readonly nameLength: number,
  ) {}

  async inspect(name: string): Promise<LockState | undefined> {
    checkLockName(name, this.nameLength);
    const record = await this.#send(name, (options) =>
      this.context.accessor.find(name, { ...options, purpose: 'inspect' }),
    );
    return record && stateOf({ ...record, name });
  }

  async list({ after, limit = DEFAULT_LIMIT, held = false }: LockPage): Promise<readonly LockState[]> {
    const { accessor } = this.context;
    if (accessor.list === undefined)
      throw new InvalidLockUseError(
        'Cannot list locks: the accessor of this lock provider has no list method.',
      );
    if (!Number.isSafeInteger(limit) || limit < 1) {
      throw new InvalidLockConfigurationError(
        `limit of a list of locks is ${describeValue(limit)}: it must be a whole number above 0.`,
      );
    }
    const list = accessor.list.bind(accessor);
    const records = await this.#send(ALL_LOCKS, (options) => list({ after, limit, held }, options));
    return records.map(stateOf);
  }

  async forceRelease(name: string, owner: string): Promise<boolean> {
    checkLockName(name, this.nameLength);
    const { clock, statementTimeoutMs } = this.context;
    const giveUpAtMs = clock.monotonicMs() + 2 * statementTimeoutMs;
    return await unlockUntil(this.context, {
      // The length of the lease only limits the time of the statement.
      terms: { name, lockAtMostForMs: 3 * statementTimeoutMs, lockAtLeastForMs: 0 },
      owner: LeaseOwner.asRead(owner),
      wasLive: true,
      giveUpAtMs: () => giveUpAtMs,
    });
  }

  async purge(olderThanMs: number): Promise<number> {
    const { accessor, keepRows } = this.context;
    if (keepRows || accessor.deleteExpired === undefined) {
      throw new InvalidLockUseError(
        `Cannot purge locks: this lock provider keeps one record per lock name, because another program may rely on it. Set keepRows: false to delete records.`,
      );
    }
    const deleteExpired = accessor.deleteExpired.bind(accessor);
    for (let total = 0; ;) {
      const deleted = await this.#send(ALL_LOCKS, (options) => deleteExpired(olderThanMs, options));
      if (deleted === 0) return total;
      total += deleted;
    }
  }

  async #send<T>(name: string, statement: (options: StatementOptions) => Promise<T>): Promise<T> {
    try {
      const timeoutMs = this.context.statementTimeoutMs;
      return await sendWithin(this.context, { name, timeoutMs, waitAtMostMs: timeoutMs }, statement);
    } catch (error) {
      throw storageErrorOf(error, name);
    }
  }
}

function stateOf({ held, ...record }: NamedLockRecord): LockState {
  const { name, lockedBy, lockUntil, lockedAt, fencingToken } = record;
  return { name, isHeld: held, lockedBy, lockUntil, lockedAt, fencingToken };
}
