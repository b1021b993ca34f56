import type { LockRecord } from 'cronlatch/provider';
import { LATEST_MS } from '../simulation/faults';
import type { Attempt, History, Operation } from './history';

type Answered = Operation & { answer: NonNullable<Operation['answer']> };

export interface KnownGrant {
  readonly token: number | undefined;
  readonly atMs: number;
  readonly order: number;
  /** The end of the lease if it is neither extended nor released. */
  readonly endMs: number;
}

/** What the operations of one owner alone reveal about its lease. */
export class LeaseHistory {
  readonly #acquires: Operation[] = [];
  readonly #extends: Operation[] = [];
  readonly #unlocks: Operation[] = [];
  attempt: Attempt | undefined;
  #grant: KnownGrant | undefined;

  constructor(
    readonly name: string,
    readonly owner: string,
  ) {}

  add(operation: Operation): void {
    const { statement } = operation;
    if (statement === 'insert' || statement === 'update') this.#acquires.push(operation);
    if (statement === 'extend') this.#extends.push(operation);
    if (statement === 'unlock') this.#unlocks.push(operation);
    this.#grant ??= operation.answer && this.#grantIn(operation, operation.answer);
  }

  /** The grant, if it is certain: an answer confirmed it, or its record was read. */
  get grant(): KnownGrant | undefined {
    return this.#grant;
  }

  #grantIn(
    { statement, lockAtMostForMs }: Operation,
    { value, atMs, order, received }: NonNullable<Operation['answer']>,
  ): KnownGrant | undefined {
    if (typeof value !== 'object' || 'heldBy' in value) return undefined;
    if (statement !== 'find')
      return { token: value.fencingToken, atMs, order, endMs: atMs + lockAtMostForMs };
    const { fencingToken, lockedBy, held, lockUntil } = value as LockRecord;
    if (lockedBy !== this.owner || !held) return undefined;
    // A read that waited may return a grant that is younger than the time of the read.
    return { token: fencingToken, atMs: received.atMs, order, endMs: lockUntil.getTime() };
  }

  /** Whether a statement may have been granted, or may be granted later, without an answer. */
  get mayBeGrantedUnknown(): boolean {
    return this.#acquires.some(({ outcome }) => outcome === 'unknown');
  }

  get firstSentOrder(): number {
    return this.#acquires[0]?.order ?? Infinity;
  }

  get releaseAnsweredOrder(): number {
    return confirmedOf(this.#unlocks)[0]?.answer.received.order ?? Infinity;
  }

  get extensions(): readonly Operation[] {
    return this.#extends;
  }

  get releases(): readonly Operation[] {
    return this.#unlocks;
  }

  get host(): number | undefined {
    return this.#acquires[0]?.host;
  }

  get firstSentAtMs(): number {
    return this.#acquires[0]?.invokedAtMs ?? Infinity;
  }

  /** No grant may come before: `lockAtLeastFor` has not passed yet. It does not keep a lock that was given back. */
  get #leastEndMs(): number {
    if (this.attempt?.result === 'error') return -Infinity;
    return Math.min(this.grant?.atMs ?? Infinity, this.firstSentAtMs) + this.#leastMs;
  }

  /**
   * The earliest possible end of the lease, by what was committed before `order`, if its record was not
   * damaged.
   */
  certainEndMs(order: number): number {
    if (this.grant === undefined) return -Infinity;
    const releases = this.#unlocks.map(({ answer, invokedAtMs }) => answer?.atMs ?? invokedAtMs);
    return Math.max(this.#leastEndMs, Math.min(this.certainExpiryMs(order), ...releases));
  }

  /** The earliest time at which the lease can have expired. */
  certainExpiryMs(order = Infinity): number {
    const { grant } = this;
    if (grant === undefined) return -Infinity;
    const confirmed = confirmedOf(this.#extends)
      .filter(({ answer }) => answer.order < order)
      .at(-1);
    return Math.min(
      confirmed === undefined ? grant.endMs : confirmed.answer.atMs + confirmed.lockAtMostForMs,
      ...this.#extends
        .filter((extend) => isUnknown(extend) && !this.#isSucceeded(extend, order))
        .map((extend) => extend.invokedAtMs + extend.lockAtMostForMs),
    );
  }

  /** Another extension of the same value was confirmed, so this one has not taken effect and never will. */
  #isSucceeded({ rowOwner }: Operation, order: number): boolean {
    return confirmedOf(this.#extends).some(
      (other) => other.rowOwner === rowOwner && other.answer.order < order,
    );
  }

  /**
   * Whether an unanswered extension may have changed the owner in the row, so that this statement missed it. A holder stops
   * waiting for an extension when that would have ended.
   */
  mayHaveMissed({ rowOwner, order, answer }: Operation): boolean {
    const isMissed = ({ outcome, answer: given, invokedAtMs, lockAtMostForMs }: Operation): boolean =>
      outcome === 'unknown' ||
      (given?.value === true &&
        (given.received.order > order || given.received.atMs >= invokedAtMs + lockAtMostForMs));
    return this.#extends.some(
      (extend) => extend.rowOwner === rowOwner && extend.order < (answer?.order ?? order) && isMissed(extend),
    );
  }

  /**
   * The latest time until which the record can name this owner as the holder, by statements that ended before
   * `order`.
   */
  possibleEndMs(order = Infinity): number {
    const unknown = (operation: Operation): number =>
      operation.invokedAtMs + LATEST_MS + operation.lockAtMostForMs;
    const granted = this.grant;
    const acquires = this.#acquires.filter(isUnknown).map(unknown);
    const released = confirmedOf(this.#unlocks)[0];
    if (granted !== undefined && released !== undefined && released.answer.order < order)
      return Math.max(...acquires, released.answer.received.atMs, this.#latestLeastEndMs);
    const confirmed = confirmedOf(this.#extends).filter(({ answer }) => answer.order < order);
    const last = confirmed.at(-1);
    // A statement that waited at the server kept the former end until its commit.
    const end =
      last === undefined
        ? (granted?.endMs ?? -Infinity)
        : Math.max(last.answer.atMs + last.lockAtMostForMs, last.answer.received.atMs);
    const lease = Math.max(end, ...acquires, ...this.#extends.filter(isUnknown).map(unknown));
    const givenUpAtMs = this.attempt?.releasedAtMs;
    // After a release, or after the loss was noticed, only an abandoned statement of the holder can restore
    // the lease.
    const canComeBack =
      acquires.length > 0 ||
      this.#extends.some(
        (extend) => isUnknown(extend) || (extend.answer?.received.atMs ?? 0) > (givenUpAtMs ?? Infinity),
      );
    if (order === Infinity && givenUpAtMs !== undefined && !canComeBack)
      return Math.max(Math.min(lease, givenUpAtMs), this.#latestLeastEndMs);
    return Math.max(lease, this.#latestLeastEndMs);
  }

  get #latestLeastEndMs(): number {
    const { grant } = this;
    return grant === undefined ? -Infinity : grant.atMs + this.#leastMs;
  }

  /** A grant that came too late for its job is released without `lockAtLeastFor`. */
  get #leastMs(): number {
    const isGivenBack =
      (this.attempt === undefined || this.attempt.result === 'error') &&
      confirmedOf(this.#unlocks).some(({ lockAtLeastForMs }) => lockAtLeastForMs === 0);
    return isGivenBack ? 0 : (this.#acquires[0]?.lockAtLeastForMs ?? 0);
  }
}

function isUnknown({ outcome }: Operation): boolean {
  return outcome === 'unknown';
}

/** The statements that changed the record, in the order of the commits. */
function confirmedOf(operations: readonly Operation[]): Answered[] {
  return operations
    .filter((operation): operation is Answered => operation.answer?.value === true)
    .sort((a, b) => a.answer.order - b.answer.order);
}

/** By owner, in the order of their first requests. */
export function leasesOf(history: History): LeaseHistory[] {
  const leases = new Map<string, LeaseHistory>();
  for (const operation of history.operations) {
    const { name, owner } = operation;
    const lease = leases.get(owner) ?? new LeaseHistory(name, owner);
    leases.set(owner, lease);
    lease.add(operation);
  }
  for (const attempt of history.attempts) {
    const lease = attempt.owner === undefined ? undefined : leases.get(attempt.owner);
    if (lease !== undefined) lease.attempt = attempt;
  }
  return [...leases.values()];
}
