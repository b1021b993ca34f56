import { InvalidLockConfigurationError } from '../../../core';
import { describeValue } from '../../../core/describe-value';
import { refuseOption } from '../../../core/options';
import type { BorrowedSession } from '../connections/server-driver';
import type { SqlDatabase } from './sql-database';

/** The database of an application that uses a driver of a server. */
export interface ServerApplication<Connection> {
  readonly database: SqlDatabase;
  /** The pool or the options that the application has passed. */
  readonly owner: object;
  /** Borrows a connection from the application's pool, or from one that this opens for it. */
  readonly borrow: () => Promise<BorrowedSession & { readonly connection: Connection }>;
  /** Closes what this has opened. */
  readonly close: () => Promise<void>;
}

/** The kind of a wrong source. Its content is not shown, because it can contain a password. */
export function describeSource(source: unknown): string {
  if (typeof source === 'string' || typeof source === 'function') return `a ${typeof source}`;
  if (typeof source !== 'object' || source === null) return describeValue(source);
  return isPlainObject(source) ? 'a plain object' : source.constructor.name;
}

/** Options of a driver, and no handle of another one. It works across realms. */
export function isPlainObject(source: unknown): boolean {
  if (typeof source !== 'object' || source === null) return false;
  const prototype: unknown = Object.getPrototypeOf(source);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

interface AddressForm {
  readonly subpath: string;
  readonly protocols: readonly [string, string];
  readonly example: string;
}

/** @throws InvalidLockConfigurationError without the address, which can contain a password */
export function checkAddress(address: unknown, { subpath, protocols, example }: AddressForm): void {
  const [first, second] = protocols;
  if (typeof address !== 'string' || !protocols.some((each) => address.toLowerCase().startsWith(each)))
    throw new InvalidLockConfigurationError(
      `${subpath} needs an address that begins with ${first} or ${second}, as in ${example}.`,
    );
  if (URL.canParse(address) && isDecodable(address)) return;
  throw new InvalidLockConfigurationError(
    `${subpath} cannot parse its address. Write it as in ${example}, and encode special characters of the user and the password with encodeURIComponent().`,
  );
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** @throws InvalidLockConfigurationError unless it is a whole number, 1 or more */
export function checkTransactionConnections(count: unknown): void {
  if (Number.isSafeInteger(count) && (count as number) >= 1) return;
  refuseOption('transactionConnections', count, 'it must be a whole number, 1 or more');
}
