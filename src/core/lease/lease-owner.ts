import { RELEASED_MARK } from './owner';
import type { LockRecord } from './storage-accessor';

/**
 * The values of `locked_by` during one lease. Each extension writes a new value and matches only the value before it, so
 * an extension that arrives after its successor was confirmed changes nothing.
 */
export class LeaseOwner {
  #current: string;
  #extensions = 0;
  #hasUnsettled = false;

  /** @param acquired what the acquisition wrote */
  constructor(private readonly acquired: string) {
    this.#current = acquired;
  }

  /** What the row holds, as far as the store has confirmed it. */
  get current(): string {
    return this.#current;
  }

  /** Whether the store may have executed an extension, or may still do so, that it has not confirmed. */
  get hasUnsettledExtension(): boolean {
    return this.#hasUnsettled;
  }

  /** @returns the value that the next extension writes */
  next(): string {
    this.#extensions += 1;
    return `${this.acquired}/${this.#extensions}`;
  }

  expectUnsettledExtension(): void {
    this.#hasUnsettled = true;
  }

  /** The row holds this value. Unsettled extensions match an older one, so they change nothing any more. */
  confirm(value: string): void {
    if (value === this.#current) return;
    this.#current = value;
    this.#hasUnsettled = false;
  }

  /** How a row stands to this lease: it is held by it, was released or has expired, or is of another. */
  stateOf(record: LockRecord | undefined): 'held' | 'released' | 'expired' | 'not-ours' {
    if (record === undefined || !this.#isOurs(record.lockedBy)) return 'not-ours';
    if (record.lockedBy.endsWith(RELEASED_MARK)) return 'released';
    return record.held ? 'held' : 'expired';
  }

  /** The id of the acquisition is random: no other owner begins with it. */
  #isOurs(lockedBy: string): boolean {
    return lockedBy === this.acquired || lockedBy.startsWith(`${this.acquired}/`);
  }
}
