import type { LackedCapabilities, LackedRunStoreCapabilities } from 'cronlatch/contracts';

/**
 * How the locks reach the database: on their own connections, or on the application's, with sessions as the
 * application left them.
 */
export type SqlVariant = Connections & {
  /** Without TypeORM: from an address with connections of its own, and from a pool or a handle with shared ones. */
  readonly driver?: DriverName;
};

type Connections =
  | { readonly connections: 'own' }
  | { readonly connections: 'shared'; readonly isolationLevel?: IsolationLevel };

export type DriverName = 'mysql2' | 'pg' | 'better-sqlite3';

export type IsolationLevel = (typeof ISOLATION_LEVELS)[number];

const ISOLATION_LEVELS = ['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const;

/**
 * Own connections set their isolation level themselves; shared ones have the level of the application's
 * sessions.
 */
const AT_EVERY_LEVEL: readonly SqlVariant[] = [
  { connections: 'own' },
  ...ISOLATION_LEVELS.map((isolationLevel) => ({ connections: 'shared', isolationLevel }) as const),
];

/** The drivers without TypeORM, with the default sessions of the server. */
function through(driver: DriverName): readonly SqlVariant[] {
  return [
    { connections: 'own', driver },
    { connections: 'shared', driver },
  ];
}

/** The level of sessions on a server with default settings. */
const DEFAULT_LEVELS = {
  mysql: 'REPEATABLE READ',
  mariadb: 'REPEATABLE READ',
  postgres: 'READ COMMITTED',
} as const satisfies Record<string, IsolationLevel>;

/** Whether `npm test` runs the variant: with TypeORM at the default level or the library's, and each driver once. */
export function isInEveryRun(server: keyof typeof DEFAULT_LEVELS, variant: SqlVariant): boolean {
  if (variant.driver !== undefined) return variant.connections === 'own' && server !== 'mariadb';
  return variant.connections === 'own' || variant.isolationLevel === DEFAULT_LEVELS[server];
}

/** A store that runs the contract: its missing capabilities, and its variants. */
export interface ContractStore {
  readonly lacks: LackedCapabilities;
  readonly variants: readonly SqlVariant[];
}

export interface RunContractStore {
  readonly lacks: LackedRunStoreCapabilities;
  readonly variants: readonly SqlVariant[];
}

const ON_SQLITE: readonly SqlVariant[] = [
  { connections: 'own' },
  { connections: 'shared' },
  ...through('better-sqlite3'),
];
const ON_MYSQL = [...AT_EVERY_LEVEL, ...through('mysql2')];
const ON_POSTGRES = [...AT_EVERY_LEVEL, ...through('pg')];

/** The table of `npm run contract -- --list` shows these stores, and the tests run them. */
export const CONTRACT_STORES = {
  memory: {
    lacks: { ambientTransaction: 'a map has no transactions' },
    variants: [],
  },
  sqlite: {
    lacks: {
      ambientTransaction:
        'SQLite has one writer at a time, so a lock waits for the transaction that is open in its file',
    },
    variants: ON_SQLITE,
  },
  mysql: { lacks: {}, variants: ON_MYSQL },
  mariadb: { lacks: {}, variants: ON_MYSQL },
  postgres: { lacks: {}, variants: ON_POSTGRES },
} as const satisfies Record<string, ContractStore>;

const ONE_WRITER = {
  ambientTransaction:
    'SQLite has one writer at a time, so a run waits for the transaction that is open in its file',
};

/** The same for stores of runs. */
export const RUN_STORES = {
  memory: {
    lacks: { ambientTransaction: 'a map has no transactions' },
    variants: [],
  },
  sqlite: { lacks: ONE_WRITER, variants: ON_SQLITE },
  mysql: { lacks: {}, variants: ON_MYSQL },
  mariadb: { lacks: {}, variants: ON_MYSQL },
  postgres: { lacks: {}, variants: ON_POSTGRES },
} as const satisfies Record<string, RunContractStore>;

export function describeVariant(variant: SqlVariant): string {
  const level = variant.connections === 'shared' ? variant.isolationLevel : undefined;
  const driver = variant.driver === undefined ? '' : ` of ${variant.driver}`;
  return `${variant.connections} connections${driver}${level === undefined ? '' : ` at ${level}`}`;
}
