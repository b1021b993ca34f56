import type { LackedCapabilities, LackedRunStoreCapabilities } from 'cronlatch/contracts';

/**
 * How the locks reach the database: on their own connections, or on the application's, with sessions as the
 * application left them.
 */
export type SqlVariant =
  | { readonly connections: 'own' }
  | { readonly connections: 'shared'; readonly isolationLevel?: IsolationLevel };

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

/** The level of sessions on a server with default settings. */
const DEFAULT_LEVELS = {
  mysql: 'REPEATABLE READ',
  mariadb: 'REPEATABLE READ',
  postgres: 'READ COMMITTED',
} as const satisfies Record<string, IsolationLevel>;

/** Whether the sessions of a variant have the server's default level, or the library's. */
export function isOfDefaultSessions(server: keyof typeof DEFAULT_LEVELS, variant: SqlVariant): boolean {
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
    variants: [{ connections: 'own' }, { connections: 'shared' }],
  },
  mysql: { lacks: {}, variants: AT_EVERY_LEVEL },
  mariadb: { lacks: {}, variants: AT_EVERY_LEVEL },
  postgres: { lacks: {}, variants: AT_EVERY_LEVEL },
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
  sqlite: { lacks: ONE_WRITER, variants: [{ connections: 'own' }, { connections: 'shared' }] },
  mysql: { lacks: {}, variants: AT_EVERY_LEVEL },
  mariadb: { lacks: {}, variants: AT_EVERY_LEVEL },
  postgres: { lacks: {}, variants: AT_EVERY_LEVEL },
} as const satisfies Record<string, RunContractStore>;

export function describeVariant(variant: SqlVariant): string {
  const level = variant.connections === 'shared' ? variant.isolationLevel : undefined;
  return `${variant.connections} connections${level === undefined ? '' : ` at ${level}`}`;
}
