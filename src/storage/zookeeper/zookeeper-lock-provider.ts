import {
  LockStorageError,
  systemClock,
  type Clock,
  type Duration,
  type Lock,
  type LockConfiguration,
  type LockObserver,
  type LockPage,
  type LockProvider,
  type LockState,
} from '../../core';
import { momentOf, withinLimit, type Moment } from '../../core/clock';
import { parseStatementTimeout } from '../../core/duration';
import { checkOptionNames } from '../../core/options';
import { Lease } from '../../core/lease/lease';
import { LockRecords } from '../../core/lease/lock-records';
import { SeenLocks } from '../../core/lease/seen-locks';
import type { StatementContext } from '../../core/lease/statements';
import type { LeaseAccessor } from '../../core/lease/storage-accessor';
import { checkLockConfiguration, type LockTerms } from '../../core/lock-configuration';
import { checkNameLength, DEFAULT_NAME_LENGTH, PROBED_NAME } from '../../core/lock-name';
import { HeldNode } from './held-node';
import { dataOf, LockNodes, type NodeTimes, type OwnNode, NodeRecords, tokenOf } from './lock-nodes';
import { LockWaiters } from './lock-waiters';
import { checkPath } from './node-names';
import { checkClient, type ZooKeeperAcl, type ZooKeeperClient } from './zookeeper-client';
import { ZooKeeperSession } from './zookeeper-session';

const CLOSED = 'its lock provider was closed';

/** Runs a step of an attempt within the time limit of the attempt. */
type Within = <T>(body: () => Promise<T>) => Promise<T>;

export interface ZooKeeperLockProviderOptions {
  /**
   * A client of the package `node-zookeeper-client`. Connect it before the first lock. The provider never closes it. After
   * the end of its session, create a new client and a new provider.
   */
  readonly client: ZooKeeperClient;
  /** The node below which the locks are, equal on all instances that share them. Default `/cronlatch`. */
  readonly path?: string | undefined;
  /** The access rights of all nodes, made with the package's `ACL`. Default: every client may do everything. */
  readonly acl?: ZooKeeperAcl | undefined;
  /** The longest allowed name of a lock, in characters, up to 255. Default 64. */
  readonly nameLength?: number | undefined;
  /** The longest time limit of a step. The limit is a third of `lockAtMostFor` if that is shorter. Default 5 s. */
  readonly statementTimeout?: Duration | undefined;
  /** For `lockAtMostFor`, `lockAtLeastFor` and `keepAlive`. Sessions last in real time. */
  readonly clock?: Clock | undefined;
}

const OPTIONS = ['client', 'path', 'acl', 'nameLength', 'statementTimeout', 'clock'];

/** Keeps each lock as an ephemeral node, which ends with the client's session. Waiters are served in their order. */
export class ZooKeeperLockProvider implements LockProvider {
  readonly nameLength: number;
  readonly statementTimeoutMs: number;
  readonly #clock: Clock;
  readonly #session: ZooKeeperSession;
  readonly #nodes: LockNodes;
  readonly #records: NodeRecords;
  readonly #operator: LockRecords;
  readonly #waiters: LockWaiters;
  readonly #seenLocks = new SeenLocks();
  readonly #attempts = new Set<Promise<unknown>>();
  readonly #held = new Set<HeldNode>();
  #isClosed = false;

  /** @throws InvalidLockConfigurationError for an invalid option */
  constructor(options: ZooKeeperLockProviderOptions) {
    checkOptionNames(options, OPTIONS, 'ZooKeeperLockProvider');
    const { client, path = '/cronlatch', acl, nameLength = DEFAULT_NAME_LENGTH } = options;
    const { statementTimeout = '5s', clock = systemClock } = options;
    checkClient(client);
    checkPath(path);
    this.nameLength = checkNameLength(nameLength);
    this.statementTimeoutMs = parseStatementTimeout(statementTimeout);
    this.#clock = clock;
    this.#session = new ZooKeeperSession(client, acl);
    this.#nodes = new LockNodes(this.#session, path);
    this.#waiters = new LockWaiters(this.#nodes);
    this.#records = new NodeRecords(this.#nodes);
    this.#operator = new LockRecords(this.#context(this.#records), this.nameLength);
  }

  /** `undefined` until the first lock was requested, because it contains the identity of the node `path`. */
  get id(): string | undefined {
    return this.#nodes.place;
  }

  async lock(configuration: LockConfiguration, observer: LockObserver = {}): Promise<Lock | undefined> {
    if (this.#isClosed) throw this.#session.ended(CLOSED);
    const attempt = this.#lock(checkLockConfiguration(configuration, this.nameLength), observer);
    this.#attempts.add(attempt);
    return await attempt.finally(() => this.#attempts.delete(attempt));
  }

  /**
   * Resolves when this process is the first in the queue of a lock. The next `lock` of that name then takes its place.
   * A place that is not taken within 100 ms is removed.
   */
  async released(name: string, signal: AbortSignal): Promise<void> {
    if (this.#isClosed) throw this.#session.ended(CLOSED);
    await this.#waiters.released(this.#nodes.pathOf(name), signal);
  }

  async probe(timeoutMs: number): Promise<void> {
    await this.#records.find(PROBED_NAME, { timeoutMs: Math.min(timeoutMs, this.statementTimeoutMs) });
  }

  inspect(name: string): Promise<LockState | undefined> {
    return this.#operator.inspect(name);
  }

  list(page: LockPage): Promise<readonly LockState[]> {
    return this.#operator.list(page);
  }

  forceRelease(name: string, owner: string): Promise<boolean> {
    return this.#operator.forceRelease(name, owner);
  }

  /**
   * Deletes the nodes of this provider, also those that `lockAtLeastFor` keeps, and stops watching the client. Locks that
   * are still held are lost.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiters.close();
    await Promise.allSettled(this.#attempts);
    for (const held of [...this.#held]) {
      held.lose('its provider was closed');
      held.discard();
    }
    const removed = this.#nodes.settled().then(() => this.#session.close(CLOSED));
    await withinLimit(systemClock, removed, this.statementTimeoutMs);
  }

  async #lock(terms: LockTerms, observer: LockObserver): Promise<Lock | undefined> {
    const { name, lockAtMostForMs } = terms;
    const longestMs = Math.min(this.statementTimeoutMs, observer.statementTimeoutMs ?? Infinity);
    const endsAtMs = systemClock.monotonicMs() + Math.min(lockAtMostForMs / 3, longestMs);
    const lockedAt = momentOf(this.#clock);
    const provenAt = momentOf(systemClock);
    const granted = await this.#attempt({ ...terms, instance: observer.instance }, lockedAt, (body) =>
      this.#session.within(endsAtMs - systemClock.monotonicMs(), `lock '${name}'`, body),
    );
    if (granted === undefined) {
      const isDue = this.#seenLocks.takeRead(name, this.#clock.monotonicMs());
      const holder = isDue ? await this.inspect(name) : undefined;
      if (holder !== undefined) observer.refused?.({ heldBy: holder.lockedBy, heldUntil: holder.lockUntil });
      return undefined;
    }
    const { own, fencingToken } = granted;
    const held: HeldNode = new HeldNode({
      nodes: this.#nodes,
      records: this.#records,
      clock: this.#clock,
      own,
      terms,
      lockedAt,
      provenAt,
      onEnded: () => this.#held.delete(held),
    });
    this.#held.add(held);
    const onReleased = (): void => held.end();
    const options = { ...this.#context(held), terms, owner: own.owner, observer, guard: held, onReleased };
    const lease = new Lease(options, { fencingToken }, lockedAt);
    held.lease = lease;
    return await lease.orRelease('its session', lockedAt.monotonicMs);
  }

  /** @returns `undefined` if the lock is held */
  async #attempt(
    { name, lockAtMostForMs, instance }: LockTerms & Pick<LockObserver, 'instance'>,
    { wallMs }: Moment,
    within: Within,
  ): Promise<{ readonly own: OwnNode; readonly fencingToken: number } | undefined> {
    const times = { lockedAt: new Date(wallMs), lockUntil: new Date(wallMs + lockAtMostForMs) };
    const lock = this.#nodes.pathOf(name);
    const taken = this.#waiters.take(lock);
    if (taken === 'waiting') {
      await within(() => this.#nodes.queueOf(lock)); // A server that does not answer is an error.
      return undefined;
    }
    const own = taken ?? (await this.#enter(lock, times, within, instance));
    try {
      if (!own.isFirst) {
        await within(() => this.#nodes.discard(own));
        return undefined;
      }
      const { session } = this.#nodes;
      const stat = await within(async () =>
        taken === undefined
          ? (await session.read(own.path))?.[1]
          : await session.write(own.path, dataOf(own.owner, times)),
      );
      if (stat !== undefined) return { own, fencingToken: tokenOf(stat) };
    } catch (error) {
      void this.#nodes.discard(own);
      throw error;
    }
    throw new LockStorageError(`The node of lock '${name}' was deleted at once. Leave the nodes in place.`, {
      outcome: 'contention',
    });
  }

  async #enter(lock: string, times: NodeTimes, within: Within, instance?: string): Promise<OwnNode> {
    const entry = await within(() => Promise.resolve(this.#nodes.enter(lock, times, instance)));
    try {
      return await within(() => entry.entered);
    } catch (error) {
      entry.abandon();
      throw error;
    }
  }

  #context(accessor: LeaseAccessor): StatementContext {
    const { statementTimeoutMs } = this;
    return { accessor, clock: this.#clock, statementTimeoutMs, random: Math.random, keepRows: true };
  }
}
