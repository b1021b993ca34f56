import type { DataSourceOptions } from 'typeorm';
import type { Contender } from '../contender';

/** A server from `test/support/servers`. */
export interface Server {
  readonly name: string;
  /** Without the name of a database. */
  readonly url: string;
  readonly version: string;
  readonly origin: 'environment' | 'binary' | '.servers' | 'docker';
}

/** A new database on a server whose commits are as safe as in production. */
export interface BenchDatabase extends AsyncDisposable {
  /** How an application connects to it. */
  readonly options: DataSourceOptions;
  /** The settings of the server that make a speed meaningful, as the server reports them. */
  readonly durability: string;
  /** The driver alone: the library's own statements for one lock, prepared, on one connection. */
  openBaseline(): Promise<Contender>;
  /** All connections to this database, without those that serve this object. */
  countConnections(): Promise<number>;
}
