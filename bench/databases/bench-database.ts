import type { DataSourceOptions } from 'typeorm';
import type { SqlDialect, TableShape } from '#cronlatch/storage/sql/dialects/sql-dialect';
import type { SqlStatement } from '#cronlatch/storage/sql/statements/statement';

/** A server from `test/support/servers`, or SQLite. */
export interface Server {
  readonly name: string;
  /** Without the name of a database. */
  readonly url: string;
  readonly version: string;
  readonly origin: 'environment' | 'binary' | '.servers' | 'docker' | 'package';
}

/** How to use a database by its driver alone. */
export interface BareDatabase {
  /** For the statements of the library. Its time is that of the library's own tables. */
  readonly dialect: SqlDialect;
  readonly shape: Pick<TableShape, 'now'>;
  /** Opens a connection with the settings of the library's sessions. */
  readonly connect: () => Promise<BareConnection>;
}

/** What the tables need from a server, with or without SQL. */
export interface BenchPlace extends AsyncDisposable {
  /** How an application connects to it. */
  readonly options: object;
  /** The settings of the server that make a speed meaningful, as the server reports them. */
  readonly durability: string;
  readonly counters: Counters | undefined;
}

/** A new database on a server whose commits are as safe as in production. */
export interface BenchDatabase extends BareDatabase, BenchPlace {
  readonly options: DataSourceOptions;
  /** `undefined` for SQLite, whose statements block the process: a second worker changes nothing. */
  readonly counters: Counters | undefined;
}

/** A driver's connection. */
export interface BareConnection {
  /** Sends a statement as a prepared one. @returns the number of written or found rows */
  send(statement: SqlStatement): Promise<number | null>;
  end(): Promise<void>;
}

export interface Counters {
  /** All connections to this database, without those that serve this object. */
  countConnections(): Promise<number>;
  /** Complete after all connections to this database have ended. */
  count(): Promise<Counts>;
}

/** What a server has counted since it started. */
export interface Counts {
  /** `undefined`: the server does not count them. */
  readonly statements: number | undefined;
  readonly commits: number;
}
