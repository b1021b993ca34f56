import { randomUUID } from 'node:crypto';
import {
  LockStorageError,
  type Clock,
  type ExtensionRequest,
  type Grant,
  type LockRecord,
  type LockRequest,
  type LockRecordPage,
  type NamedLockRecord,
  type StatementOptions,
  type StorageAccessor,
  type StorageOutcome,
} from '../../core';
import { leaseOf, RELEASED_MARK } from '../../core/lease/owner';
import { isFailure, type EtcdAnswer } from './etcd-answer';
import type { CallOptions, EtcdGateway } from './etcd-gateway';
import { base64, decoded, endOf, leaseIdOf, recordOf, tokenOf, valueOf } from './etcd-record';

const MOST_GRANTS = 10_000;
const LONGEST_REVOCATION_MS = 2000;

/**
 * A lock is a key that is attached to the lease of its owner. The lease alone decides when the lock expires. Its id
 * follows from the owner, so each statement compares the lease of the key.
 */
export class EtcdStorageAccessor implements StorageAccessor {
  readonly keepsTimeLimits = true;
  /** `undefined` until the first statement. */
  placeId: string | undefined;
  /** For each acquisition, a moment when it certainly had its lock. Monotonic. */
  readonly #grantedAtMs = new Map<string, number>();
  readonly #revocations = new Set<Promise<void>>();

  constructor(
    private readonly gateway: EtcdGateway,
    private readonly keyPrefix: string,
    private readonly clock: Clock,
  ) {}

  async insertRecord(request: LockRequest, options: StatementOptions): Promise<Grant | undefined> {
    const answer = await this.updateRecord(request, options);
    return answer === 'held' ? undefined : answer;
  }

  /** The keys of expired locks are gone. A refusal costs one read. */
  async updateRecord(request: LockRequest, options: StatementOptions): Promise<Grant | 'held'> {
    const limits = this.#limits(request.name, options);
    await this.#identify(limits);
    const { kvs = [] } = await this.#read(request.name, limits);
    if (kvs.length > 0) return 'held';
    // With that outcome, the attempt ends.
    return await this.#revokeIf('nothing-ran', this.#take(request, limits), request.owner, limits);
  }

  async extend(request: ExtensionRequest, options: StatementOptions): Promise<boolean> {
    const leaseMs = Math.max(request.lockAtMostForMs, this.#leftOfLeastMs(request));
    const limits = this.#limits(request.name, options);
    // Each extension has a lease of its own. A release does not: its next try may need the one of the try before.
    const extension = this.#replace(request, leaseMs, limits);
    return await this.#revokeIf('nothing-ran', extension, request.nextOwner, limits);
  }

  async unlock(request: LockRequest, options: StatementOptions): Promise<boolean> {
    const { name, owner } = request;
    const limits = this.#limits(name, options);
    const leaseMs = this.#leftOfLeastMs(request);
    const isOurs =
      leaseMs > 0
        ? await this.#replace({ name, owner, nextOwner: owner + RELEASED_MARK }, leaseMs, limits)
        : await this.#delete(request, limits);
    if (isOurs) this.#grantedAtMs.delete(leaseOf(owner));
    return isOurs;
  }

  async find(name: string, options: StatementOptions): Promise<LockRecord | undefined> {
    const { kvs = [] } = await this.#read(name, this.#limits(name, options));
    return kvs.map(recordOf)[0];
  }

  async list(
    { after = '', limit }: LockRecordPage,
    options: StatementOptions,
  ): Promise<readonly NamedLockRecord[]> {
    // From the first key after that one. The prefix alone is the key of the place.
    const range = { key: base64(`${this.keyPrefix}${after}\0`), range_end: endOf(this.keyPrefix) };
    const page = { ...range, limit, sort_order: 'ASCEND', sort_target: 'KEY' };
    const { kvs = [] } = await this.gateway.call('/v3/kv/range', page, this.#limits('*', options));
    const nameIn = (key: string): string => decoded(key).slice(this.keyPrefix.length);
    return kvs.map((found) => ({ ...recordOf(found), name: nameIn(found.key) }));
  }

  async released(name: string, signal: AbortSignal, options: StatementOptions): Promise<void> {
    const { header, kvs = [] } = await this.#read(name, this.#limits(name, options));
    if (kvs.length === 0) return;
    const start_revision = String(BigInt(header.revision) + 1n);
    const create_request = { key: this.#key(name), filters: ['NOPUT'], start_revision };
    await this.gateway.watchOnce({ create_request }, this.#limits(name, options), signal);
  }

  async close(): Promise<void> {
    await Promise.all(this.#revocations);
    this.gateway.close();
  }

  async #take(request: LockRequest, limits: CallOptions): Promise<Grant | 'held'> {
    const { name, owner, lockAtMostForMs } = request;
    const { lease, value, isNew } = await this.#grantLease(owner, lockAtMostForMs, limits);
    const put = { key: this.#key(name), lease, value };
    const answer = await this.#createOrRead(put, { ...limits, decides: true });
    if (answer.succeeded) {
      this.#remember(owner);
      return { fencingToken: tokenOf(answer.header.revision) };
    }
    // An earlier transaction of this attempt may still arrive, and needs its lease until the attempt is settled. Awaited,
    // because a late revocation would end a later grant of this attempt.
    if (isNew) await this.gateway.call('/v3/lease/revoke', { ID: lease }, limits);
    return 'held';
  }

  async #replace(
    { name, owner, nextOwner }: Pick<ExtensionRequest, 'name' | 'owner' | 'nextOwner'>,
    leaseMs: number,
    limits: CallOptions,
  ): Promise<boolean> {
    const { lease, value, isNew } = await this.#grantLease(nextOwner, leaseMs, limits);
    const write = { request_put: { key: this.#key(name), lease, value } };
    const isOurs = await this.#ifOwned({ name, owner }, write, limits);
    if (!isOurs && isNew) this.#revoke(nextOwner, limits);
    this.#revoke(owner, limits); // It has no key, and no late statement shall give it one.
    return isOurs;
  }

  async #delete({ name, owner }: LockRequest, limits: CallOptions): Promise<boolean> {
    const write = { request_delete_range: { key: this.#key(name) } };
    const deletion = this.#ifOwned({ name, owner }, write, limits);
    // The revocation ends the lock, too, if its transaction was lost. Any other failure is retried.
    const isOurs = await this.#revokeIf('unknown', deletion, owner, limits);
    this.#revoke(owner, limits);
    return isOurs;
  }

  async #ifOwned(
    { name, owner }: Pick<LockRequest, 'name' | 'owner'>,
    write: object,
    limits: CallOptions,
  ): Promise<boolean> {
    const compare = [{ key: this.#key(name), target: 'LEASE', lease: leaseIdOf(owner) }];
    const decision = { ...limits, decides: true };
    const answer = await this.gateway.call('/v3/kv/txn', { compare, success: [write] }, decision);
    return answer.succeeded === true;
  }

  #createOrRead(put: Readonly<Record<'key' | 'value', string>>, limits: CallOptions): Promise<EtcdAnswer> {
    const { key } = put;
    const transaction = {
      compare: [{ key, target: 'CREATE', create_revision: 0 }],
      success: [{ request_put: put }],
      failure: [{ request_range: { key } }],
    };
    return this.gateway.call('/v3/kv/txn', transaction, limits);
  }

  /** `isNew` is false if an earlier statement of the same owner, whose reply was lost, has granted the lease. */
  async #grantLease(
    owner: string,
    leaseMs: number,
    limits: CallOptions,
  ): Promise<{ readonly lease: string; readonly value: string; readonly isNew: boolean }> {
    const lease = leaseIdOf(owner);
    const value = valueOf(owner, this.clock.wallMs() + leaseMs);
    try {
      await this.gateway.call('/v3/lease/grant', { ID: lease, TTL: Math.ceil(leaseMs / 1000) }, limits);
      return { lease, value, isNew: true };
    } catch (error) {
      if (!isFailure(error, /lease already exists/)) throw error;
    }
    await this.gateway.call('/v3/lease/keepalive', { ID: lease }, limits);
    return { lease, value, isNew: false };
  }

  /** Revokes the lease of an owner if the statement fails like that. No other statement may need it then. */
  async #revokeIf<T>(
    outcome: StorageOutcome,
    statement: Promise<T>,
    owner: string,
    limits: CallOptions,
  ): Promise<T> {
    return await statement.catch((error: unknown) => {
      if (error instanceof LockStorageError && error.outcome === outcome) this.#revoke(owner, limits);
      throw error;
    });
  }

  /** In the background, and once: a lease that stays ends by itself. */
  #revoke(owner: string, { subject }: CallOptions): void {
    const options = { subject, endsAtMs: this.clock.monotonicMs() + LONGEST_REVOCATION_MS };
    const end = (): void => void this.#revocations.delete(revocation);
    const revocation = this.gateway
      .call('/v3/lease/revoke', { ID: leaseIdOf(owner) }, options)
      .then(end, end);
    this.#revocations.add(revocation);
  }

  /** The prefix itself is the key of the place. The ids of clusters are equal if these were set up alike. */
  async #identify(limits: CallOptions): Promise<void> {
    if (this.placeId !== undefined) return;
    const value = base64(`etcd/${randomUUID()}`);
    const { responses } = await this.#createOrRead({ key: base64(this.keyPrefix), value }, limits);
    this.placeId = decoded(responses?.[0]?.response_range?.kvs?.[0]?.value ?? value);
  }

  #read(name: string, limits: CallOptions): Promise<EtcdAnswer> {
    return this.gateway.call('/v3/kv/range', { key: this.#key(name) }, limits);
  }

  #limits(subject: string, { timeoutMs }: StatementOptions): CallOptions {
    return { subject, endsAtMs: this.clock.monotonicMs() + timeoutMs };
  }

  /** Called when the answer has arrived, so that `lockAtLeastFor` never ends too early. */
  #remember(owner: string): void {
    if (this.#grantedAtMs.size >= MOST_GRANTS) this.#grantedAtMs.clear();
    this.#grantedAtMs.set(owner, this.clock.monotonicMs());
  }

  /** All of `lockAtLeastFor` if it is not known when the lock was granted. */
  #leftOfLeastMs({ owner, lockAtLeastForMs }: LockRequest): number {
    const nowMs = this.clock.monotonicMs();
    return (this.#grantedAtMs.get(leaseOf(owner)) ?? nowMs) + lockAtLeastForMs - nowMs;
  }

  #key(name: string): string {
    return base64(this.keyPrefix + name);
  }
}
