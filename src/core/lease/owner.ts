import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

const LONGEST_HOST = 170;
const HOST = hostname().slice(0, LONGEST_HOST);

/** Unique for every acquisition, so that a reply that was lost can be settled and a stale holder changes nothing; and readable. */
export function newOwner(): string {
  return `${HOST}/${process.pid}/${randomUUID()}`;
}

/** How wide an owner's column must be: host, process, acquisition, number of an extension and the mark of a release. */
export const LONGEST_OWNER = LONGEST_HOST + 70;

/** The mark of a release. A late extend then finds nothing, and a release whose reply was lost is recognised. */
export const RELEASED_MARK = '/released';
