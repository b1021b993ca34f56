import type { DataSourceOptions } from 'typeorm';
import type { Contender } from '../contender';

/** A server as `test/support/servers` hands it over. */
export interface Server {
  readonly name: string;
  /** Names no database. */
  readonly url: string;
  readonly version: string;
  readonly origin: 'environment' | 'binary' | '.servers' | 'docker';
}

/** A fresh database on a server whose commits are as safe as in production. */
export interface BenchDatabase extends AsyncDisposable {
  /** What leads an application to it. */
  readonly options: DataSourceOptions;
  /** The settings of the server without which a speed means nothing, as the server itself says them. */
  readonly durability: string;
  /** The driver alone: the library's own statements for one lock, prepared, on one connection. */
  openBaseline(): Promise<Contender>;
  /** Of this database, whoever has them; those that serve this object are left out. */
  countConnections(): Promise<number>;
}
