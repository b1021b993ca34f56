import type { TestContext } from 'node:test';
import type { TypeOrmLockProvider, TypeOrmLockProviderOptions } from 'cronlatch/typeorm';
import type { DataSource } from 'typeorm';
import { databaseOn, SERVER_NAMES, testOn, type ServerName } from '../databases/fresh';
import { migratedDataSource } from '../databases/lock-table';
import { Stranger } from '../databases/stranger';
import type { ServerDatabase } from '../databases/types';
import { targetOf, tcpProxy, throughProxy, type TcpProxy } from '../faults/tcp-proxy';
import { onStores } from '../servers/test-on';
import { closing } from './closing';
import { DatabaseBench } from './database';

/** A fresh database of a server, with the lock table in it. */
export class ServerBench extends DatabaseBench<ServerDatabase<unknown>> {
  readonly stranger: Stranger;

  private constructor(
    readonly server: ServerName,
    database: ServerDatabase<unknown>,
    application: DataSource,
  ) {
    super(database, application);
    this.stranger = new Stranger(server, database);
  }

  static async on(server: ServerName): Promise<ServerBench> {
    const database = await databaseOn(server);
    return new ServerBench(server, database, await migratedDataSource(database));
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
}

/** One test for each server. */
export function testOnServers(
  name: string,
  body: (bench: ServerBench, t: TestContext) => Promise<void>,
): void {
  onStores(SERVER_NAMES, name, (server) => testOnServer(server, name, body));
}

export function testOnServer(
  server: ServerName,
  name: string,
  body: (bench: ServerBench, t: TestContext) => Promise<void>,
): void {
  testOn(server, name, async (t) => {
    await using bench = closing(await ServerBench.on(server));
    await body(bench, t);
  });
}
