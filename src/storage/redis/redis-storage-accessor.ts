import {
  LockStorageError,
  systemClock,
  type ExtensionRequest,
  type Grant,
  type LockRecord,
  type LockRequest,
  type StatementOptions,
  type StorageAccessor,
} from '../../core';
import { ACQUIRE, EXTEND, FIND, UNLOCK, type RedisScript } from './redis-scripts';
import type { RedisAnswer, ScriptRunner } from './script-runner';

/** For a record without an end, which another program wrote. */
const NEVER = new Date('9999-12-31T00:00:00Z');

/** Locks as keys of a Redis server: one key per lock, and one script per statement. */
export class RedisStorageAccessor implements StorageAccessor {
  readonly keepsTimeLimits = true;
  /** Redis counts leases in whole milliseconds. */
  readonly clockStepMs = 1;
  /** Owners whose release may still arrive, so that no later statement may grant them the lock. */
  readonly #givenBack = new Set<string>();

  /** @param writes runs the writes that replicas may have to confirm */
  constructor(
    private readonly keyPrefix: string,
    private readonly scripts: ScriptRunner,
    private readonly writes: Pick<ScriptRunner, 'run'>,
    readonly close: () => Promise<void>,
  ) {}

  async insertRecord(request: LockRequest, options: StatementOptions): Promise<Grant | undefined> {
    const { name, owner } = request;
    const endsAtMs = systemClock.monotonicMs() + options.timeoutMs;
    if (this.#givenBack.has(owner)) throw givenBack(name, 'replicas did not confirm it');
    const args = [owner, us(request.lockAtMostForMs)];
    const answer = await this.#run(this.writes, { script: ACQUIRE, name, args }, options);
    const { status, values, missing } = answer;
    if (status === 'endless')
      throw new LockStorageError(
        `Lock '${name}' can never be free: its key '${this.keyOf(name)}' has a value that another program wrote without an expiry. Choose another keyPrefix, or delete the key.`,
        { outcome: 'nothing-ran' },
      );
    if (missing !== undefined) {
      this.#givenBack.add(owner);
      const timeoutMs = endsAtMs - systemClock.monotonicMs();
      const giveBack = this.unlock({ ...request, lockAtLeastForMs: 0 }, { timeoutMs });
      // If this fails, the outcome of the attempt is unknown, and the lock is released later.
      await giveBack.catch(() => confirmed(name, answer));
      throw givenBack(name, missing);
    }
    return status === 'done' ? { fencingToken: Number(values[0]) } : undefined;
  }

  /** Redis deletes expired records, so this grants the lock if there is none. */
  async updateRecord(request: LockRequest, options: StatementOptions): Promise<Grant | 'held'> {
    return (await this.insertRecord(request, options)) ?? 'held';
  }

  async extend(request: ExtensionRequest, options: StatementOptions): Promise<boolean> {
    const { name, owner, nextOwner, lockAtMostForMs, lockAtLeastForMs } = request;
    const args = [owner, nextOwner, us(lockAtMostForMs), us(lockAtLeastForMs)];
    const answer = await this.#run(this.writes, { script: EXTEND, name, args }, options);
    return confirmed(name, answer).status === 'done';
  }

  async unlock({ name, owner, lockAtLeastForMs }: LockRequest, options: StatementOptions): Promise<boolean> {
    const args = [owner, us(lockAtLeastForMs), this.keyOf(name)];
    const { status } = await this.#run(this.scripts, { script: UNLOCK, name, args }, options);
    this.#givenBack.delete(owner);
    return status === 'done';
  }

  /**
   * To settle an outcome, it writes the record again, so that replicas confirm it.
   *
   * @returns also how much longer the record is held, by the server's clock
   */
  async find(
    name: string,
    options: StatementOptions & { purpose: 'inspect' | 'resolve' },
  ): Promise<(LockRecord & { readonly leftMs: number }) | undefined> {
    const { scripts, writes } = this;
    const [runner, again] =
      options.purpose === 'resolve' && writes !== scripts ? [writes, '1'] : [scripts, '0'];
    const answer = await this.#run(runner, { script: FIND, name, args: [again] }, options);
    const { status, values, nowUs } = confirmed(name, answer);
    if (status !== 'done') return undefined;
    const [lockedBy = '', held, endsUs = '', token] = values;
    if (options.purpose === 'resolve' && this.#givenBack.has(lockedBy))
      throw givenBack(name, 'replicas did not confirm it');
    const leftMs = endsUs === '' ? Infinity : (Number(endsUs) - nowUs) / 1000;
    return {
      lockedBy,
      held: held === '1',
      lockUntil: endsUs === '' ? NEVER : new Date(Number(endsUs) / 1000),
      fencingToken: Number(token) || undefined,
      leftMs: held === '1' ? leftMs : 0,
    };
  }

  /** Also the channel on which its releases are published. */
  keyOf(name: string): string {
    return `${this.keyPrefix}${name}`;
  }

  #run(
    runner: Pick<ScriptRunner, 'run'>,
    call: { readonly script: RedisScript; readonly name: string; readonly args: readonly string[] },
    { timeoutMs }: StatementOptions,
  ): Promise<RedisAnswer> {
    return runner.run({ ...call, key: this.keyOf(call.name), timeoutMs });
  }
}

function us(milliseconds: number): string {
  return String(Math.round(milliseconds * 1000));
}

function givenBack(name: string, missing: string): LockStorageError {
  return new LockStorageError(
    `Lock '${name}' was given back: ${missing}. Check the replicas, or require fewer in wait.`,
    { outcome: 'nothing-ran' },
  );
}

function confirmed(name: string, answer: RedisAnswer): RedisAnswer {
  if (answer.missing === undefined) return answer;
  throw new LockStorageError(
    `A failover could lose the record of lock '${name}': ${answer.missing}. Check the replicas.`,
  );
}
