import {
  systemClock,
  type Clock,
  type LockRecord,
  type LockRequest,
  type LockStorageError,
  type StatementOptions,
} from '../../core';
import { momentOf, type Deadline, type Moment } from '../../core/clock';
import type { Lease, LeaseGuard } from '../../core/lease/lease';
import type { LeaseAccessor } from '../../core/lease/storage-accessor';
import { TrustedSession } from '../../core/lease/trusted-session';
import type { LockTerms } from '../../core/lock-configuration';
import { dataOf, type LockNodes, type OwnNode, type NodeRecords } from './lock-nodes';
import type { ZooKeeperSession } from './zookeeper-session';

/**
 * The node of a held lock. It lasts as long as the session, so the holder proves the session every third of its
 * timeout, and after each reconnection. It trusts the session for two thirds of the timeout: the leader of the ensemble
 * may receive a proof only later, from the server that the client is connected to.
 */
export class HeldNode implements LeaseAccessor, LeaseGuard {
  readonly keepsTimeLimits = true;
  lease: Lease | undefined;
  readonly #session: ZooKeeperSession;
  readonly #trust: TrustedSession;
  #isLost = false;
  /** Whether ZooKeeper has not answered for as long as the session is trusted. */
  #isInDoubt = false;
  #isGone = false;
  #cancelKeeping: (() => void) | undefined;
  readonly #stopWatching: () => void;

  constructor(
    private readonly options: {
      readonly nodes: LockNodes;
      readonly records: NodeRecords;
      readonly own: OwnNode;
      readonly terms: LockTerms;
      /** The time of the leases. The session lasts in real time. */
      readonly clock: Clock;
      readonly lockedAt: Moment;
      /** When the first request was sent that proved the session, in real time. */
      readonly provenAt: Moment;
      readonly onEnded: () => void;
    },
  ) {
    this.#session = options.nodes.session;
    const proof = {
      clock: systemClock,
      intervalMs: () => this.#session.timeoutMs / 3,
      trustedForMs: () => (this.#session.timeoutMs * 2) / 3,
      describeExpiry: this.#describeExpiry,
      send: (trusted: Deadline) => this.#confirm(trusted),
      onLost: (reason: string) => this.lose(reason),
    };
    this.#trust = new TrustedSession(proof, options.provenAt);
    this.#stopWatching = this.#session.watch((state) => {
      if (state === 'connected') void this.#trust.prove();
      else this.lose(this.expiryReason() ?? state);
    });
  }

  expiryReason(): string | undefined {
    const { end } = this.#session;
    if (end !== undefined && !this.#trust.isStopped)
      return `the ZooKeeper client cannot be used any more: ${end}`;
    return this.#trust.expiryReason();
  }

  /**
   * A job whose signal aborts because its session is in doubt has the rest of the session timeout to stop. If the node
   * went at once, the next holder would begin before the signal has stopped this one.
   */
  onLost(): void {
    this.#isLost = true;
    if (!this.#isInDoubt && this.#trust.expiryReason() === undefined) return this.end();
    this.#stopProving();
    const discard = (): void => this.#endKeeping();
    this.#cancelKeeping = systemClock.schedule(this.#session.timeoutMs / 3, discard, { keepAlive: false });
  }

  lose(reason: string): void {
    if (!this.#trust.isStopped) this.lease?.lose(reason);
    if (!this.#isLost) this.end();
  }

  async extend({ lockAtMostForMs }: LockRequest, { timeoutMs }: StatementOptions): Promise<boolean> {
    const { nodes, own, clock, lockedAt } = this.options;
    const provenAt = momentOf(systemClock);
    const lockUntil = new Date(clock.wallMs() + lockAtMostForMs);
    const data = dataOf(own.owner, { lockedAt: new Date(lockedAt.wallMs), lockUntil });
    const stat = await this.#within(timeoutMs, () => nodes.session.write(own.path, data));
    if (stat !== undefined) this.#trust.trustFrom(provenAt);
    return stat !== undefined;
  }

  async unlock(_: LockRequest, { timeoutMs }: StatementOptions): Promise<boolean> {
    const { nodes, own } = this.options;
    if (this.#isLost) this.#endKeeping();
    if (this.#isLost || this.#session.end !== undefined) return false;
    const isKept = this.#keptMs() > 0;
    const isOurs = await this.#within(timeoutMs, () =>
      isKept ? nodes.session.confirm(own.path) : nodes.remove(own),
    );
    this.#isGone = !isKept;
    this.end();
    return isOurs && !this.#isLost;
  }

  async find(name: string, options: StatementOptions): Promise<LockRecord | undefined> {
    if (this.#session.end !== undefined) return undefined; // The node ends with its session.
    const record = await this.options.records.find(name, options);
    return record?.lockedBy === this.options.own.owner ? record : undefined;
  }

  /** The lock is no longer held. Its node stays until `lockAtLeastFor` has passed. */
  end(): void {
    this.#stopProving();
    if (this.#cancelKeeping !== undefined) return;
    const discard = (): void => this.discard();
    if (this.#keptMs() <= 0) return discard();
    this.#cancelKeeping = this.options.clock.schedule(this.#keptMs(), discard, { keepAlive: false });
  }

  discard(): void {
    this.#cancelKeeping?.();
    this.#cancelKeeping = () => {};
    if (!this.#isGone) void this.options.nodes.discard(this.options.own);
    this.options.onEnded();
  }

  #stopProving(): void {
    this.#trust.stop();
    this.#stopWatching();
  }

  /** Keeps the node no longer than `lockAtLeastFor` asks. */
  #endKeeping(): void {
    this.#cancelKeeping?.();
    this.#cancelKeeping = undefined;
    this.end();
  }

  #keptMs(): number {
    const { clock, lockedAt, terms } = this.options;
    return lockedAt.monotonicMs + terms.lockAtLeastForMs - clock.monotonicMs();
  }

  #within<T>(timeoutMs: number, body: () => Promise<T>): Promise<T> {
    return this.#session.within(timeoutMs, `lock '${this.options.terms.name}'`, body);
  }

  /** @returns why the node is gone, if so */
  async #confirm(trusted: Deadline): Promise<string | undefined> {
    const { nodes, own } = this.options;
    try {
      const leftMs = trusted.remainingMs(systemClock);
      const isThere = await this.#within(leftMs, () => nodes.session.confirm(own.path));
      return isThere ? undefined : 'its node was deleted';
    } catch (error) {
      const { driverCode, message } = error as LockStorageError;
      this.#isInDoubt = driverCode === undefined; // Although the timer of the limit may fire a little early.
      return this.expiryReason() ?? (this.#isInDoubt ? this.#describeExpiry() : message);
    }
  }

  readonly #describeExpiry = (): string =>
    `ZooKeeper has not confirmed its session for two thirds of the session timeout of ${this.#session.timeoutMs} ms`;
}
