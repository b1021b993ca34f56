import type { LackedCapabilities } from 'cronlatch/contracts';
import type { LackedRunStoreCapabilities } from '../run-store-contract/fixture';

/** How the locks reach the database. */
export interface SqlVariant {
  /** Without it, TypeORM. */
  readonly driver?: DriverName;
  /** `false`: the row's existence is the lock, and a release deletes it. */
  readonly keepRows?: false;
  /** `'always'`: each lock is sent by the statements for groups. */
  readonly grouping?: 'always';
}

/** Which client reaches Redis, with the major version if it is not the latest. */
export interface RedisVariant {
  readonly client: 'ioredis' | 'ioredis-6' | 'redis' | 'redis-5';
}

export type DriverName = 'mysql2' | 'pg' | 'better-sqlite3';

function through(driver: DriverName): readonly SqlVariant[] {
  return [{}, { driver }, { driver, grouping: 'always' }];
}

/** `npm test` runs each variant on one server, and all of SQLite. `npm run test:faults` runs the others. */
const IN_EVERY_RUN = {
  mysql: ['mysql2', 'mysql2, in groups'],
  mariadb: ['TypeORM'],
  postgres: ['pg'],
};

export type ContractRun = 'in every run' | 'the others';

export function runOf(server: keyof typeof IN_EVERY_RUN, variant: SqlVariant): ContractRun {
  return IN_EVERY_RUN[server].includes(describeVariant(variant)) ? 'in every run' : 'the others';
}

/** A store that runs the contract: its missing capabilities, and its variants. */
export interface ContractStore {
  readonly lacks: LackedCapabilities;
  readonly variants: readonly (SqlVariant | RedisVariant)[];
}

export interface RunContractStore {
  readonly lacks: LackedRunStoreCapabilities;
  readonly variants: readonly SqlVariant[];
}

const ON_SQLITE: readonly SqlVariant[] = [{}, { driver: 'better-sqlite3' }];
const ON_MYSQL = through('mysql2');
const ON_POSTGRES = through('pg');

const SHOWS_LAST_HOLDER = 'the row of a held lock shows its last holder, not the current one';
const ROW_IS_LOCKED = 'the row of a held lock is locked, so no other session can change or delete it';
const ENDS_WITH_PROCESS = 'a lock ends with the process that took it, so none can outlive a command';
const POLLED = 'the store cannot notify, so waiters poll';
const ONE_COPY = 'each read sees all writes before it, because there is one copy of the data';
const READS_FROM_PRIMARY = 'a read is decided by the server that decides writes';

/** The table of `npm run contract -- --list` shows these stores, and the tests run them. */
export const CONTRACT_STORES = {
  memory: {
    lacks: { ambientTransaction: 'a map has no transactions', staleReads: ONE_COPY },
    variants: [],
  },
  sqlite: {
    lacks: {
      ...{ released: POLLED, staleReads: ONE_COPY },
      ambientTransaction:
        'SQLite has one writer at a time, so a lock waits for the transaction that is open in its file',
    },
    variants: ON_SQLITE,
  },
  mysql: { lacks: { released: POLLED }, variants: ON_MYSQL },
  mariadb: { lacks: { released: POLLED }, variants: ON_MYSQL },
  postgres: { lacks: { released: POLLED }, variants: ON_POSTGRES },
  /** Locks whose rows a release deletes: on SQLite, and on each server. */
  unique: {
    lacks: {
      ambientTransaction: 'on SQLite a lock waits for the transaction that is open in its file',
      ...{ released: POLLED, staleReads: ONE_COPY },
    },
    variants: [{ keepRows: false }],
  },
  row: {
    lacks: {
      released: POLLED,
      hold: ENDS_WITH_PROCESS,
      ...{ inspect: SHOWS_LAST_HOLDER, list: SHOWS_LAST_HOLDER, forceRelease: SHOWS_LAST_HOLDER },
      ...{ deleteRecord: ROW_IS_LOCKED, existingRecord: ROW_IS_LOCKED },
      stall:
        'a process that stalls for five seconds loses its connection, and the lock with it, before lockAtMostFor',
      atLeastAfterCrash:
        'lockAtLeastFor is written with the COMMIT of the release, which a crashed holder never sends',
      manyLocks: 'each held lock keeps a connection of its own',
      staleReads: 'each statement is part of a transaction, which a proxy sends to the primary',
    },
    variants: [{}],
  },
  redis: {
    lacks: {
      ambientTransaction: 'Redis has no transactions that a lock could join',
      list: 'a list would have to scan all keys of the server',
      staleReads: READS_FROM_PRIMARY,
    },
    variants: [{ client: 'ioredis' }, { client: 'ioredis-6' }, { client: 'redis' }, { client: 'redis-5' }],
  },
  etcd: {
    lacks: {
      exactExpiry:
        'a lease of etcd lasts whole seconds, and 2 s or more by the default settings of the server',
      ambientTransaction: 'the application has no transactions in etcd that stay open',
      staleReads: READS_FROM_PRIMARY,
    },
    variants: [],
  },
  zookeeper: {
    lacks: {
      ambientTransaction: 'ZooKeeper is not the database of the application',
      staleReads: 'a read of a client never misses its own writes',
      existingRecord: 'a lock is held by a node of a living session, which has no end that could be written',
      stall: 'a process that stalls past its session timeout loses its session, before lockAtMostFor',
      atLeastAfterCrash: 'lockAtLeastFor is kept by the living process and ends with it',
      hold: ENDS_WITH_PROCESS,
    },
    variants: [],
  },
} as const satisfies Record<string, ContractStore>;

const ONE_WRITER = {
  staleReads: ONE_COPY,
  ambientTransaction:
    'SQLite has one writer at a time, so a run waits for the transaction that is open in its file',
};

/** The same for stores of runs. */
export const RUN_STORES = {
  memory: {
    lacks: { ambientTransaction: 'a map has no transactions', staleReads: ONE_COPY },
    variants: [],
  },
  sqlite: { lacks: ONE_WRITER, variants: ON_SQLITE },
  mysql: { lacks: {}, variants: ON_MYSQL },
  mariadb: { lacks: {}, variants: ON_MYSQL },
  postgres: { lacks: {}, variants: ON_POSTGRES },
} as const satisfies Record<string, RunContractStore>;

export function describeVariant(variant: SqlVariant | RedisVariant): string {
  if ('client' in variant) return variant.client;
  const rows = variant.keepRows === false ? ', rows deleted' : '';
  const groups = variant.grouping === undefined ? '' : ', in groups';
  return `${variant.driver ?? 'TypeORM'}${rows}${groups}`;
}
