import { InvalidLockConfigurationError } from '../../../core';
import { describeValue, refuseOption } from '../../../core/options';
import { driverErrorOf } from '../statements/sql-failure';
import type { DialectName } from '../dialects/sql-dialect';
import { severalHosts, type PasswordSource, type SqlDatabase } from '../connections/sql-database';
import type { Limits, RunTransaction, Transaction } from '../connections/transaction';

/** Applications begin transactions on a `Connection`. `inRunTransaction` passes a `Lent` one to the job. */
export interface Driver<Source, Connection, Lent> {
  /** The subpath of the entry point, such as `cronlatch/pg`. */
  readonly subpath: string;
  readonly read: ReadSource<Source, Promise<RunTransaction<Lent>>>;
  /** The application's transaction on a connection. `undefined` for a pool, and for a connection of another driver. */
  readonly transactionOn: (connection: Connection) => GivenTransaction | undefined;
  /** Whether the driver has made the error. It may be due to a lost lease. */
  readonly isClientError: (error: unknown) => boolean;
}

/**
 * Describes a database without connecting to it.
 *
 * @throws InvalidLockConfigurationError naming what is wrong, without the address
 */
export type ReadSource<Source, Lent> = (
  source: Source,
  options?: {
    /** How many connections `inRunTransaction` opens at most if the application has passed no pool. Default 5. */
    readonly transactionConnections?: number | undefined;
    /** Asked at each new connection that is not the application's, instead of the password of the source. */
    readonly password?: PasswordSource | undefined;
    /** Whether a SQLite file that is missing is created. */
    readonly creates?: boolean | undefined;
  },
) => SqlDatabase<Lent>;

/** Options of a driver, as the application passes them to its pool. */
export type DriverOptions = Readonly<Record<string, unknown>>;

export interface GivenTransaction {
  /** `undefined`: not known. */
  readonly dialect: DialectName | undefined;
  /** It can be used in callbacks, where the current run can be that of another job. */
  readonly hasCallbacks?: boolean;
  readonly open: (limits: Limits) => Transaction | Promise<Transaction>;
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

/** What reads a source, and an example of an address. */
export interface SourceForm {
  readonly subpath: string;
  readonly example: string;
}

/** The error for a source that cannot be used. A missing address is usually a variable that is not set. */
export function unusableSource(
  source: unknown,
  { subpath, example }: SourceForm,
  accepted: string,
): InvalidLockConfigurationError {
  if (source !== undefined && source !== '')
    return new InvalidLockConfigurationError(
      `${subpath} cannot use ${describeSource(source)}. Pass ${accepted}, or an address such as ${example}.`,
    );
  const what = source === '' ? 'an empty text' : 'undefined';
  return new InvalidLockConfigurationError(
    `The source for ${subpath} is ${what}. If an environment variable holds the address, set it, as in DATABASE_URL=${example}. You can also pass ${accepted}.`,
  );
}

/** @throws InvalidLockConfigurationError without the address, which can contain a password */
export function checkAddress(
  address: unknown,
  { protocols, ...form }: SourceForm & { readonly protocols: readonly [string, string] },
): void {
  const [first, second] = protocols;
  if (typeof address !== 'string' || !protocols.some((each) => address.toLowerCase().startsWith(each)))
    throw new InvalidLockConfigurationError(
      `${form.subpath} needs an address that begins with ${first} or ${second}, as in ${form.example}.`,
    );
  readAddress(address, form, () => decodeURIComponent(new URL(address) && address));
}

const ASKS_FOR_TLS = /^(ssl-?mode|ssl-?accept|(use|require)-?ssl|tls)$/i;
const WITHOUT_TLS = /^(disabled?|prefer(red)?|false|0)$/i;

/**
 * Other clients of MySQL take TLS from these parameters. Its drivers for Node ignore them, and would connect without TLS.
 *
 * @param ssl the option of the driver, which is used instead
 * @throws InvalidLockConfigurationError naming the parameter
 */
export function checkTls(parameters: URLSearchParams, ssl: unknown): void {
  if (ssl !== undefined && ssl !== false) return;
  for (const [name, value] of parameters)
    if (ASKS_FOR_TLS.test(name) && !WITHOUT_TLS.test(value))
      throw new InvalidLockConfigurationError(
        `The address asks for TLS by ${name}, which the driver ignores: it would connect without TLS. Pass options with ssl, such as { ssl: { rejectUnauthorized: true } }.`,
      );
}

/** Its password contains a special character, so that the beginning would be read as a host and a port. */
const CUT_PASSWORD = /^[^/]*\/\/[^@/?#]*(?:\/[^?]*|[/?][^=]*|.*#.*)@/;

/**
 * Calls `read`, and hides its error if it could not read the address: `new URL` shows all of it.
 *
 * @throws InvalidLockConfigurationError without the address, which can contain a password
 */
export function readAddress<T>(address: string, form: SourceForm, read: () => T): T {
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
  { subpath, example }: SourceForm,
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
