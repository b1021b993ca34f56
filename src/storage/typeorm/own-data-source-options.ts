import type { DataSource, DataSourceOptions } from 'typeorm';

type Settings = Readonly<Record<string, unknown>>;
/** Returns a driver's factory of sockets. It uses the application's own factory, if there is one. */
type WrapStream = (factory: unknown) => unknown;

/** One for any statement, and one that is kept for the statements that a lease depends on. */
export const OWN_CONNECTIONS = 2;

/** Additional connections, used while statements wait for rows that other transactions have locked. */
export const SPARE_CONNECTIONS = 4;

const MOST_CONNECTIONS = OWN_CONNECTIONS + SPARE_CONNECTIONS;

/** Options that lead to the database: driver, address, credentials, TLS. No other options of the application are used. */
const COPIED_OPTIONS = {
  mysql: splitWords(
    'type driver connectorPackage url host port username password database socketPath ssl insecureAuth',
  ),
  postgres: splitWords('type driver url host port username password database ssl applicationName'),
  sqlite: splitWords('type driver database key nativeBinding prepareDatabase'),
};

/** Settings in `extra` that would change the meaning of answers, time limits, or the number of connections. */
const EXCLUDED_FROM_EXTRA = {
  mysql: splitWords(
    'connectionLimit max maxIdle queueLimit waitForConnections multipleStatements flags typeCast rowsAsArray ' +
      'nestTables namedPlaceholders queryFormat timezone dateStrings decimalNumbers charset charsetNumber ' +
      'jsonStrings stringifyObjects supportBigNumbers bigNumberStrings connectTimeout resetOnRelease',
  ),
  postgres: splitWords(
    'max min maxUses maxLifetimeSeconds allowExitOnIdle Client pipeline query_timeout statement_timeout ' +
      'lock_timeout idle_in_transaction_session_timeout connectionTimeoutMillis types binary parseInt8',
  ),
};

/** Settings that `extra` of the application may override. */
const OWN_EXTRA = {
  mysql: {},
  // Otherwise pg closes a connection after ten idle seconds, and a job that runs every minute opens a new one each time.
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
    // Another character set would turn some characters of a name into question marks.
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
    extra: { ...extra, verify: withErrorListener(extra['verify']) },
    connectTimeoutMS: connectTimeoutMs,
    installExtensions: false,
  } as DataSourceOptions;
}

interface ErrorEmitter {
  on(event: 'error', listener: () => void): unknown;
}
type VerifyClient = (client: ErrorEmitter, done: (error?: unknown) => void) => void;

/**
 * The pool calls this as soon as a client is connected. A server that shuts down can end the connection in the same
 * packet, before the pool has handed the client over. Without a listener, that error would end the process. The next
 * statement on the client fails anyway.
 *
 * @param verify the application's own function, if there is one
 */
function withErrorListener(verify: unknown): VerifyClient {
  return (client, done) => {
    client.on('error', () => {});
    if (typeof verify === 'function') (verify as VerifyClient)(client, done);
    else done();
  };
}

/** A connection to the same file that never blocks the event loop to wait for another writer. */
export function ownSqliteOptions({ options }: DataSource): DataSourceOptions {
  return {
    ...pick(options as unknown as Settings, COPIED_OPTIONS.sqlite),
    timeout: 0,
    // A wrong path must fail instead of creating an empty database.
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
  // With replication, the lock belongs to the primary. Its options are copied to the top level.
  const { master } = (settings['replication'] ?? {}) as { master?: Settings };
  const given = (settings['extra'] ?? {}) as Settings;
  const kept = Object.entries(given).filter(([key]) => !EXCLUDED_FROM_EXTRA[kind].includes(key));
  return {
    ...pick(settings, COPIED_OPTIONS[kind]),
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

function splitWords(text: string): readonly string[] {
  return text.split(' ');
}

function pick(settings: Settings, keys: readonly string[]): Settings {
  return Object.fromEntries(
    keys.filter((key) => settings[key] !== undefined).map((key) => [key, settings[key]]),
  );
}
