import { InvalidLockConfigurationError, systemClock } from '../../../core';
import { withinLimitOr } from '../../../core/clock';
import { OwnServerConnections, type ConnectionSettings } from './server-connections';
import type { OpeningSession, ServerDriver } from './server-driver';
import type { ConnectionSource } from '../statements/statement';
import type { SqlDialect } from '../dialects/sql-dialect';
import type { DefaultSchema } from '../schema/tables';
import type { Limits } from './transaction';

/** The application's database, described without connecting to it. `Lent` is what `inRunTransaction` works with. */
export interface SqlDatabase<Lent = unknown> extends DefaultSchema {
  readonly dialect: SqlDialect;
  /** The same on every instance that uses this database. */
  readonly place: string;
  /** For messages: the address, without credentials. */
  readonly address: string;
  /** For the log: the kind and the name of the database. */
  readonly title: string;
  /** The database that new connections begin in. */
  readonly name: string | undefined;
  /** The user that new connections log in as, for messages. */
  readonly user?: string | undefined;
  /** The path of a SQLite file. */
  readonly file?: string | undefined;
  /** Why the file can no longer be used, although connections have it open. `undefined` if it can. */
  readonly findLoss?: (() => Error | undefined) | undefined;
  /** The application has the only connection to it. */
  readonly isInMemory: boolean;
  /** Removes secrets from a driver's message. */
  readonly redact: (message: string) => string;
  /** How to open a connection to the server. `undefined` for SQLite. */
  readonly sessions?: {
    readonly driver: ServerDriver;
    readonly open: (limitMs: number) => OpeningSession | Promise<OpeningSession>;
  };
  /** Connections of our own, or the application's if the database is in memory. */
  readonly connect: (settings: ConnectionSettings) => ConnectionSource;
  /** The subpath whose `inRunTransaction` can use what `lend` returns, such as `cronlatch/pg`. */
  readonly subpath?: string;
  /** @throws InvalidLockUseError if the application is not connected to its database */
  readonly lend?: (limits: Limits) => Lent;
  /** How many requests wait for a connection of the pool that lends. */
  readonly waiting?: () => number;
  /** Closes what `lend` has opened for the application. */
  readonly close?: () => Promise<void> | void;
}

/** Where a server is, and what must not appear in a message. */
export interface ServerAddress {
  readonly host?: string | undefined;
  readonly port?: number | string | undefined;
  readonly socketPath?: string | undefined;
  readonly database?: string | undefined;
  readonly user?: string | undefined;
  /** Only texts are removed: a password can also be a function. */
  readonly secrets: readonly unknown[];
  /** Called for the password of each new connection of our own. Default: the driver has it. */
  readonly asked?: PasswordSource | undefined;
  /** The name of the server's kind in messages. Default: that of the dialect. */
  readonly label?: string | undefined;
}

const PORTS = { mysql: 3306, postgres: 5432, sqlite: undefined };

export function severalHosts(): InvalidLockConfigurationError {
  return new InvalidLockConfigurationError(
    'The address of the database names several hosts, but cronlatch connects to one host. Use the address of a router or a proxy that leads to the primary.',
  );
}

export function parseUrl(text: string) {
  const { hostname, port, username, password, pathname, searchParams } = new URL(text);
  const [host, database] = [decodeURIComponent(hostname), decodeURIComponent(pathname.slice(1))];
  return { ...optionsIn({ host, port, username, password, database }), parameters: searchParams };
}

/** The options of a driver in the parts of an address, of which only the user and the password are encoded. */
export function optionsIn({
  host,
  port,
  username,
  password,
  database,
}: Readonly<Record<'host' | 'port' | 'username' | 'password' | 'database', string>>) {
  return {
    // An IPv6 address is in brackets here, but not in the options of a driver.
    ...(host && { host: host.replace(/^\[(.*)\]$/, '$1') }),
    ...(port && { port: Number(port) }),
    ...(username && { user: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(database && { database }),
  };
}

export type PasswordSource = () => string | PromiseLike<string>;

async function askPassword(password: PasswordSource, limitMs: number): Promise<string> {
  const asked = Promise.resolve().then(password);
  const longestMs = (limitMs * 3) / 4; // The rest is for the connection, which has a limit of its own.
  const timeoutError = (): Error => new Error(`the option password did not return within ${longestMs} ms`);
  const answer: unknown = await withinLimitOr(systemClock, asked, longestMs, timeoutError);
  if (typeof answer === 'string') return answer;
  throw new Error(`the option password must return a text, not ${answer === null ? 'null' : typeof answer}`);
}

export function serverDatabase(
  driver: ServerDriver,
  address: ServerAddress,
  openWith: (limitMs: number, password?: string) => OpeningSession,
): SqlDatabase {
  const { dialect } = driver;
  const { host = 'localhost', port = PORTS[dialect.name], socketPath, database, user, secrets } = address;
  if (/,/.test(host)) throw severalHosts();
  const texts = secrets.filter((secret) => typeof secret === 'string' && secret !== '') as string[];
  const kind = address.label ?? dialect.label;
  let newest = '';
  const open = async (limitMs: number): Promise<OpeningSession> =>
    openWith(limitMs, address.asked && (newest = await askPassword(address.asked, limitMs)));
  return {
    dialect,
    place: `${dialect.name}:${database ?? ''}`,
    address: `${kind} at ${socketPath ?? `${host}:${port}`}`,
    title: database === undefined ? kind : `${kind} (${database})`,
    name: database,
    user,
    isInMemory: false,
    redact: (message) =>
      [...texts, ...(newest ? [newest] : [])].reduce(
        (text, secret) => text.replaceAll(secret, '***'),
        message,
      ),
    sessions: { driver, open },
    connect: (settings) => new OwnServerConnections(driver, open, settings),
  };
}
