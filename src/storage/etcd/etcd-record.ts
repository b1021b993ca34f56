import { createHash } from 'node:crypto';
import { LockStorageError, type LockRecord } from '../../core';
import { parsed, type KeyValue } from './etcd-answer';

/** For a key that cronlatch has not written: it may stay for ever. */
const NEVER = new Date(8.64e15);

/**
 * The id of the lease of an owner, from a hash: a process that knows only the owner can compare and revoke its lease.
 * etcd takes any id above zero that is not in use.
 */
export function leaseIdOf(owner: string): string {
  return String((createHash('sha256').update(owner).digest().readBigUInt64BE() >> 2n) + 1n);
}

/** The time is for people. */
export function valueOf(owner: string, lockUntilMs: number): string {
  return base64(JSON.stringify({ owner, lockUntil: new Date(lockUntilMs) }));
}

export function recordOf({ value, create_revision }: KeyValue): LockRecord {
  const text = decoded(value);
  const { owner, lockUntil } = parsed(text) ?? {};
  const lockUntilMs = typeof lockUntil === 'string' ? Date.parse(lockUntil) : NaN;
  return {
    lockedBy: typeof owner === 'string' ? owner : text,
    held: true,
    lockUntil: Number.isNaN(lockUntilMs) ? NEVER : new Date(lockUntilMs),
    fencingToken: tokenOf(create_revision),
  };
}

export function tokenOf(revision: string): number {
  const token = Number(revision);
  if (Number.isSafeInteger(token) && token > 0) return token;
  throw new LockStorageError(
    `The revision of an answer of etcd cannot be a fencing token: ${revision} is not a safe integer.`,
  );
}

/** The first key behind all keys with the prefix. No byte of UTF-8 is 255. */
export function endOf(prefix: string): string {
  const bytes = Buffer.from(prefix);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) + 1, bytes.length - 1);
  return bytes.toString('base64');
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

export function decoded(value = ''): string {
  return Buffer.from(value, 'base64').toString();
}
