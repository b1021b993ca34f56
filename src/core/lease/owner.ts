import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { refuseOption } from '../options';
import type { LockRecord } from './storage-accessor';

const LONGEST_HOST = 170;
const HOST = hostname().slice(0, LONGEST_HOST);

/** Unique per acquisition, so that a lost reply can be settled and a stale holder cannot change anything. */
export function newOwner(instance = instanceName()): string {
  return `${instance}/${randomUUID()}`;
}

/**
 * Names this process for people: not unique, because containers can have equal names.
 *
 * @param name the `instanceName` of its guard. Its characters are safe in every store, and cannot be read as a hold.
 * @throws InvalidLockConfigurationError for an invalid name
 */
export function instanceName(name?: string): string {
  if (name === undefined) return `${HOST}/${process.pid}`;
  if (typeof name !== 'string' || !/^[\w.:@+-]{1,100}$/.test(name))
    refuseOption('instanceName', name, 'use 1 to 100 letters, digits and characters of . _ : @ + -');
  return `${`${name}:${HOST}`.slice(0, LONGEST_HOST)}/${process.pid}`;
}

/** The width of an owner's column: host, process, acquisition, the number of an extension and the mark of a release. */
export const LONGEST_OWNER = LONGEST_HOST + 70;

/** The mark of a release. A late extension then matches nothing, and a release with a lost reply can be recognized. */
export const RELEASED_MARK = '/released';

/** Whether its lease has been released, and `lockAtLeastFor` keeps the lock. */
export function isKept(lockedBy: string): boolean {
  return lockedBy.endsWith(RELEASED_MARK);
}

/** The name, the host and the process of an owner. */
export function instanceOf(owner: string): string {
  return owner.split('/').slice(0, 2).join('/');
}

/** The owner of a lease without the number of its extension. Owners that other programs wrote stay as they are. */
export function leaseOf(lockedBy: string): string {
  return lockedBy.replace(/(\/[\da-f]{8}-[\da-f-]{27})\/\d+$/, '$1');
}

/**
 * The values of `locked_by` during one lease. Each extension writes a new value and matches only the value before it.
 * So an extension that arrives after its successor was confirmed changes nothing.
 */
export class LeaseOwner {
  /** The value in the row, as far as the store has confirmed it. */
  current: string;
  #extensions = 0;
  /** Whether an extension that the store has not confirmed may have taken effect, or may still do so. */
  hasUnsettledExtension = false;

  constructor(private readonly acquired: string) {
    this.current = acquired;
  }

  /** The owner of a lease of another process, as its row was read. That process may extend the lease meanwhile. */
  static asRead(lockedBy: string): LeaseOwner {
    const owner = new LeaseOwner(leaseOf(lockedBy));
    owner.confirm(lockedBy);
    owner.hasUnsettledExtension = true;
    return owner;
  }

  next(): string {
    this.#extensions += 1;
    return `${this.acquired}/${this.#extensions}`;
  }

  /** The row holds this value. Unsettled extensions match an older one, so they can no longer change anything. */
  confirm(value: string): void {
    if (value === this.current) return;
    this.current = value;
    this.hasUnsettledExtension = false;
  }

  stateOf(record: LockRecord | undefined): 'held' | 'released' | 'expired' | 'not-ours' {
    // The id of the acquisition is random: no other owner begins with it.
    if (record === undefined || !`${record.lockedBy}/`.startsWith(`${this.acquired}/`)) return 'not-ours';
    if (isKept(record.lockedBy)) return 'released';
    return record.held ? 'held' : 'expired';
  }
}
