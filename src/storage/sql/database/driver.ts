import { InvalidLockConfigurationError } from '../../../core';
import { describeValue } from '../../../core/describe-value';
import { refuseOption } from '../../../core/options';
import type { BorrowedSession, DriverSession, ServerDriver } from '../connections/server-driver';
import { driverErrorOf } from '../connections/sql-failure';
import { severalHosts, type ServerDescription, type SqlDatabase } from './sql-database';

/** What the entry point of a driver needs. */
export interface Driver<Source, Opened extends Application> {
  /** The subpath of the entry point, such as `cronlatch/pg`. */
  readonly subpath: string;
  /**
   * Describes the database that an application has passed, without connecting to it.
   *
   * @throws InvalidLockConfigurationError naming what is wrong, without the address
   */
  readonly read: (source: Source, options?: SourceOptions) => Opened;
}

export interface SourceOptions {
  /** How many connections `inRunTransaction` opens at most if the application has passed no pool. Default 5. */
  readonly transactionConnections?: number | undefined;
  /** Whether a SQLite file that is missing is created. */
  readonly creates?: boolean | undefined;
}

/** What an application has passed. */
export interface Application {
  readonly database: SqlDatabase;
  /** Closes what was opened for the application. */
  readonly close?: () => Promise<void> | void;
}

/**
 * A driver with pools, and so with asynchronous transactions. The application's transactions are on a `Connection`, and
 * those of `inRunTransaction` on a `Lent` one of a pool.
 */
export interface PoolDriver<Source, Connection, Lent> extends Driver<Source, PoolApplication<Lent>> {
  readonly server: ServerDriver;
  /** `undefined` for a pool, and for the connection of another driver. */
  readonly readConnection: (connection: Connection) => OpenedConnection | undefined;
  /** Whether the driver has made the error. It may be due to a lost lease. */
  readonly isClientError: (error: unknown) => boolean;
}

export interface PoolApplication<Lent> extends Application {
  /** Borrows a connection from the application's pool, or from one that this opens for it. */
  readonly borrow: () => Promise<BorrowedSession & { readonly connection: Lent }>;
}

/** A connection that the application has opened itself. */
interface OpenedConnection {
  readonly session: DriverSession;
  readonly database: ServerDescription;
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
  /** What reads it. */
  readonly subpath: string;
  readonly example: string;
}

/** @throws InvalidLockConfigurationError without the address, which can contain a password */
export function checkAddress(
  address: unknown,
  { protocols, ...form }: AddressForm & { readonly protocols: readonly [string, string] },
): void {
  const [first, second] = protocols;
  if (typeof address !== 'string' || !protocols.some((each) => address.toLowerCase().startsWith(each)))
    throw new InvalidLockConfigurationError(
      `${form.subpath} needs an address that begins with ${first} or ${second}, as in ${form.example}.`,
    );
  readAddress(address, form, () => decodeURIComponent(new URL(address) && address));
}

/** Its password contains a special character, so that the beginning would be read as a host and a port. */
const CUT_PASSWORD = /^[^/]*\/\/[^@/?#]*(?:\/[^?]*|[/?][^=]*|.*#.*)@/;

/**
 * Calls `read`, and hides its error if it could not read the address: `new URL` shows all of it.
 *
 * @throws InvalidLockConfigurationError without the address, which can contain a password
 */
export function readAddress<T>(address: string, form: AddressForm, read: () => T): T {
  try {
    if (!CUT_PASSWORD.test(address)) return read();
  } catch (error) {
    const isUnreadable = error instanceof URIError || driverErrorOf(error).code === 'ERR_INVALID_URL';
    if (!isUnreadable) throw error;
  }
  throw unreadableAddress(address, form);
}

export function unreadableAddress(
  address: string,
  { subpath, example }: AddressForm,
): InvalidLockConfigurationError {
  if (/\/\/(?:.*@)?[^/?#]*,/.test(address)) return severalHosts();
  return new InvalidLockConfigurationError(
    `${subpath} cannot parse its address. Write it as in ${example}, and encode special characters of the user and the password with encodeURIComponent().`,
  );
}

/** @throws InvalidLockConfigurationError unless it is a whole number, 1 or more */
export function checkTransactionConnections(count: unknown): void {
  if (Number.isSafeInteger(count) && (count as number) >= 1) return;
  refuseOption('transactionConnections', count, 'it must be a whole number, 1 or more');
}
