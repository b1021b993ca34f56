import type { DataSource, DataSourceOptions } from 'typeorm';

type Settings = Readonly<Record<string, unknown>>;
/** Makes a driver's factory of sockets, from the one that the application gave, if it did. */
type WrapStream = (given: unknown) => unknown;

/** Two connections: one for whatever comes, one kept for the statements that a lease depends on. */
export const OWN_CONNECTIONS = 2;

/** More, for as long as statements wait for rows that other transactions have locked. */
export const SPARE_CONNECTIONS = 4;

const MOST_CONNECTIONS = OWN_CONNECTIONS + SPARE_CONNECTIONS;

/** What leads to the database: driver, address, credentials, TLS. Everything else of the application's options stays behind. */
const TAKEN_OVER = {
  mysql: words(
    'type driver connectorPackage url host port username password database socketPath ssl insecureAuth',
  ),
  postgres: words('type driver url host port username password database ssl applicationName'),
  sqlite: words('type driver database key nativeBinding prepareDatabase'),
};

/** Settings of the drivers that would change what an answer means, how long it may take, or how many connections there are. */
const NOT_FROM_EXTRA = {
  mysql: words(
    'connectionLimit max maxIdle queueLimit waitForConnections multipleStatements flags typeCast rowsAsArray ' +
      'nestTables namedPlaceholders queryFormat timezone dateStrings decimalNumbers charset charsetNumber ' +
      'jsonStrings stringifyObjects supportBigNumbers bigNumberStrings connectTimeout resetOnRelease',
  ),
  postgres: words(
    'max min maxUses maxLifetimeSeconds allowExitOnIdle Client pipeline query_timeout statement_timeout ' +
      'lock_timeout idle_in_transaction_session_timeout connectionTimeoutMillis types binary parseInt8',
  ),
};

/** What the application may set otherwise. */
const OWN_EXTRA = {
  mysql: {},
  // Else pg closes a connection after ten idle seconds, and a job a minute would open one each time.
  postgres: { idleTimeoutMillis: 0 },
};

/** Connections to MySQL or MariaDB. */
export function ownMysqlOptions(
  { options }: DataSource,
  connectTimeoutMs: number,
  stream: WrapStream,
): DataSourceOptions {
  return {
    ...serverOptions(options, 'mysql', stream, 'connectionLimit'),
    connectTimeout: connectTimeoutMs,
    // Names are compared byte for byte: another character set would make question marks of some.
    charset: 'UTF8MB4_UNICODE_CI',
    supportBigNumbers: true,
    bigNumberStrings: true,
  } as DataSourceOptions;
}

/** Connections to PostgreSQL. */
export function ownPostgresOptions(
  { options }: DataSource,
  connectTimeoutMs: number,
  stream: WrapStream,
): DataSourceOptions {
  const own = serverOptions(options, 'postgres', stream, 'max');
  const extra = own['extra'] as Settings;
  return {
    ...own,
    extra: { ...extra, verify: listening(extra['verify']) },
    connectTimeoutMS: connectTimeoutMs,
    installExtensions: false,
  } as DataSourceOptions;
}

interface ErrorEmitter {
  on(event: 'error', listener: () => void): unknown;
}
type VerifyClient = (client: ErrorEmitter, done: (error?: unknown) => void) => void;

/**
 * The pool calls this as soon as a client has been let in. A server that shuts down may say goodbye in that very packet,
 * before anybody who asked for the client has got it, and an error that nobody listens to would end the process. Whoever
 * uses the client then hears that it is of no use.
 *
 * @param given the application's own
 */
function listening(given: unknown): VerifyClient {
  return (client, done) => {
    client.on('error', () => {});
    if (typeof given === 'function') (given as VerifyClient)(client, done);
    else done();
  };
}

/** The same file, with a connection that never stops the event loop to wait for another writer. */
export function ownSqliteOptions({ options }: DataSource): DataSourceOptions {
  return {
    ...pick(options as unknown as Settings, TAKEN_OVER.sqlite),
    timeout: 0,
    // A wrong path is to be told, not to become an empty database.
    fileMustExist: true,
    logging: false,
  } as DataSourceOptions;
}

function serverOptions(
  options: DataSourceOptions,
  kind: 'mysql' | 'postgres',
  stream: WrapStream,
  connectionsKey: string,
): Settings {
  const settings = options as unknown as Settings;
  // With replication the lock belongs to the primary, as plain options.
  const { master } = (settings['replication'] ?? {}) as { master?: Settings };
  const given = (settings['extra'] ?? {}) as Settings;
  const kept = Object.entries(given).filter(([key]) => !NOT_FROM_EXTRA[kind].includes(key));
  return {
    ...pick(settings, TAKEN_OVER[kind]),
    ...master,
    extra: {
      ...OWN_EXTRA[kind],
      ...Object.fromEntries(kept),
      [connectionsKey]: MOST_CONNECTIONS,
      stream: stream(given['stream']),
    },
    poolSize: MOST_CONNECTIONS,
    logging: false,
  };
}

function words(text: string): readonly string[] {
  return text.split(' ');
}

function pick(settings: Settings, keys: readonly string[]): Settings {
  return Object.fromEntries(
    keys.filter((key) => settings[key] !== undefined).map((key) => [key, settings[key]]),
  );
}
