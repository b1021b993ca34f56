import { isAhead } from '../clock';
import { refuseOption } from '../options';
import { InvalidLockUseError } from '../errors';
import type { LockPage, LockState } from '../lock';
import { checkLockName } from '../lock-name';
import { LeaseOwner } from './owner';
import { sendWithin, storageErrorOf, unlockUntil, type StatementContext } from './statements';
import type { LockRecord, NamedLockRecord, StatementOptions } from './storage-accessor';

const DEFAULT_LIMIT = 100;
/** For messages about statements that concern no single lock. */
const ALL_LOCKS = '*';

export class LockRecords {
  constructor(
    private readonly context: StatementContext,
    private readonly nameLength: number,
  ) {}

  async inspect(name: string, timeoutMs?: number): Promise<LockState | undefined> {
    checkLockName(name, this.nameLength);
    const find = (options: StatementOptions): Promise<LockRecord | undefined> =>
      this.context.accessor.find(name, { ...options, purpose: 'inspect' });
    const record = await this.#send(name, find, timeoutMs);
    return record && stateOf({ ...record, name });
  }

  async list({ after, limit = DEFAULT_LIMIT, held = false }: LockPage): Promise<readonly LockState[]> {
    const { accessor } = this.context;
    if (accessor.list === undefined)
      throw new InvalidLockUseError(
        'Cannot list locks: the accessor of this lock provider has no list method.',
      );
    if (!Number.isSafeInteger(limit) || limit < 1)
      refuseOption('limit of a list of locks', limit, 'it must be a whole number above 0');
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
    if (keepRows || accessor.deleteExpired === undefined)
      throw new InvalidLockUseError(
        `Cannot purge locks: this lock provider keeps one record per lock name, because another program may rely on it. Set keepRows: false to delete records.`,
      );
    const deleteExpired = accessor.deleteExpired.bind(accessor);
    for (let total = 0; ;) {
      const deleted = await this.#send(ALL_LOCKS, (options) => deleteExpired(olderThanMs, options));
      if (deleted === 0) return total;
      total += deleted;
    }
  }

  async #send<T>(
    name: string,
    statement: (options: StatementOptions) => Promise<T>,
    timeoutMs = this.context.statementTimeoutMs,
  ): Promise<T> {
    try {
      return await sendWithin(this.context, { name, timeoutMs, waitAtMostMs: timeoutMs }, statement);
    } catch (error) {
      throw storageErrorOf(error, name);
    }
  }
}

function stateOf({ held, ...record }: NamedLockRecord): LockState {
  const { name, lockedBy, lockUntil, lockedAt, readAt, fencingToken } = record;
  return { name, isHeld: held, lockedBy, lockUntil, lockedAt, readAt, fencingToken };
}

/** What is wrong with a held lock whose grant lies ahead of its store's clock; `undefined` if it does not. */
export function describeAhead(lock: Omit<LockState, 'isHeld'>): string | undefined {
  if (!isAhead(lock.lockedAt, lock.readAt)) return undefined;
  return `Lock '${lock.name}' was granted at a time that its store has not reached yet: the clock of the store was ahead then, or has been set back since. No instance gets the lock before ${lock.lockUntil.toISOString()}. Check that clock. If no process holds the lock, release it.`;
}
