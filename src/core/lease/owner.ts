import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

const LONGEST_HOST = 170;
const HOST = hostname().slice(0, LONGEST_HOST);

/**
 * Unique for every acquisition, so that a lost reply can be settled and a stale holder cannot change anything. The
 * host and the process make it readable.
 */
export function newOwner(): string {
  return `${HOST}/${process.pid}/${randomUUID()}`;
}

/** The width of an owner's column: host, process, acquisition, the number of an extension and the mark of a release. */
export const LONGEST_OWNER = LONGEST_HOST + 70;

/**
 * The mark of a release. A late extension then matches nothing, and a release whose reply was lost can be recognized.
 */
export const RELEASED_MARK = '/released';
