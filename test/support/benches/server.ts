import { DataSource } from 'typeorm';
import { TypeOrmLockProvider, type TypeOrmLockProviderOptions } from 'cronlatch/typeorm';
import { databaseOn, SERVER_NAMES, testOn, type ServerName } from '../databases/fresh';
import { migratedDataSource } from '../databases/lock-table';
import { Stranger } from '../databases/stranger';
import type { ServerDatabase } from '../databases/types';
import { targetOf, tcpProxy, throughProxy, type TcpProxy } from '../faults/tcp-proxy';
import { onStores } from '../servers/test-on';
import { closing } from './closing';

/**
 * A fresh database with the lock table in it, and everything that a test opens there, which is closed at its
 * end.
 */
export class ServerBench {
  readonly stranger: Stranger;
  readonly #opened: { close(): Promise<unknown> }[] = [];

  private constructor(
    readonly server: ServerName,
    readonly database: ServerDatabase<unknown>,
    /** Connected. */
    readonly application: DataSource,
  ) {
    this.stranger = new Stranger(server, database);
  }

  static async on(server: ServerName): Promise<ServerBench> {
    const database = await databaseOn(server);
    return new ServerBench(server, database, await migratedDataSource(database));
  }

  /** A DataSource like the application's, not connected. */
  dataSource(more: object = {}): DataSource {
    return new DataSource({ ...this.database.options, ...more });
  }

  /** As above, connected. */
  async connected(more: object = {}): Promise<DataSource> {
    const dataSource = await this.dataSource(more).initialize();
    this.closeAtEnd({ close: () => dataSource.destroy() });
    return dataSource;
  }

  provider(options: TypeOrmLockProviderOptions = {}, dataSource = this.dataSource()): TypeOrmLockProvider {
    return this.closeAtEnd(new TypeOrmLockProvider(dataSource, options));
  }

  /** A provider that reaches the server through a proxy. */
  async proxied(
    options: TypeOrmLockProviderOptions = {},
  ): Promise<{ proxy: TcpProxy; provider: TypeOrmLockProvider }> {
    const { url } = this.database;
    const proxy = await tcpProxy(targetOf(url));
    const provider = this.provider(options, this.dataSource({ url: throughProxy(url, proxy) }));
    this.closeAtEnd(proxy);
    return { proxy, provider };
  }

  closeAtEnd<T extends { close(): Promise<unknown> }>(opened: T): T {
    this.#opened.push(opened);
    return opened;
  }

  async dispose(): Promise<void> {
    try {
      // The last first: a provider does not wait for a server that its proxy hides.
      for (const opened of this.#opened.reverse()) await opened.close();
    } finally {
      if (this.application.isInitialized) await this.application.destroy();
      await this.database.dispose();
    }
  }
}

/** One test for each server. */
export function testOnServers(name: string, body: (bench: ServerBench) => Promise<void>): void {
  onStores(SERVER_NAMES, name, (server) => testOnServer(server, name, body));
}

export function testOnServer(
  server: ServerName,
  name: string,
  body: (bench: ServerBench) => Promise<void>,
): void {
  testOn(server, name, async () => {
    await using bench = closing(await ServerBench.on(server));
    await body(bench);
  });
}
