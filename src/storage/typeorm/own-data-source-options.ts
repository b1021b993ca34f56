import type { DataSource, DataSourceOptions } from 'typeorm';

type Settings = Readonly<Record<string, unknown>>;

/** Two connections: one for whatever comes, one kept for the statements that a lease depends on. */
export const OWN_CONNECTIONS = 2;

/** What leads to the database: driver, address, credentials, TLS. Everything else of the application's options stays behind. */
const TAKEN_OVER = {
  mysql: [
    'type',
    'driver',
    'connectorPackage',
    'url',
    'host',
    'port',
    'username',
    'password',
    'database',
    'socketPath',
    'ssl',
    'insecureAuth',
    'extra',
  ],
  sqlite: ['type', 'driver', 'database', 'key', 'nativeBinding', 'prepareDatabase'],
} as const;

/** Settings of mysql2 that would change what an answer means, or how many connections there are. */
const NOT_FROM_EXTRA = new Set([
  ...['connectionLimit', 'max', 'maxIdle', 'queueLimit', 'waitForConnections', 'multipleStatements', 'flags'],
  ...[
    'typeCast',
    'rowsAsArray',
    'nestTables',
    'namedPlaceholders',
    'queryFormat',
    'timezone',
    'dateStrings',
    'decimalNumbers',
  ],
]);

export function ownMysqlOptions({ options }: DataSource, connectTimeoutMs: number): DataSourceOptions {
  const settings = options as unknown as Settings;
  // With replication the lock belongs to the primary, as plain options.
  const { master } = (settings['replication'] ?? {}) as { master?: Settings };
  const extra = Object.entries((settings['extra'] ?? {}) as Settings).filter(
    ([key]) => !NOT_FROM_EXTRA.has(key),
  );
  return {
    ...pick(settings, TAKEN_OVER.mysql),
    ...master,
    extra: { ...Object.fromEntries(extra), connectionLimit: OWN_CONNECTIONS },
    poolSize: OWN_CONNECTIONS,
    connectTimeout: connectTimeoutMs,
    // Names are compared byte for byte: another character set would make question marks of some.
    charset: 'UTF8MB4_UNICODE_CI',
    supportBigNumbers: true,
    bigNumberStrings: true,
    logging: false,
  } as DataSourceOptions;
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

function pick(settings: Settings, keys: readonly string[]): Settings {
  return Object.fromEntries(
    keys.filter((key) => settings[key] !== undefined).map((key) => [key, settings[key]]),
  );
}
