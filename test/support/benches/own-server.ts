import { DataSource } from 'typeorm';
import type { JobGuard } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import { SERVER_NAMES, testOnOwn, type ServerName } from '../databases/fresh';
import { migratedDataSource } from '../databases/lock-table';
import { ownServer, type OwnServer } from '../servers/own';
import { closing } from './closing';
import { DatabaseBench } from './database';

/** How each server creates a user without administrator rights, and stops accepting writes from it. */
interface Statements {
  readonly administration: string;
  readonly createUser: readonly string[];
  readonly demote: readonly string[];
  readonly promote: readonly string[];
}

const MYSQL: Statements = {
  administration: 'mysql',
  createUser: [`CREATE USER app@'%' IDENTIFIED BY 'secret'`, `GRANT ALL ON app.* TO app@'%'`],
  demote: ['SET GLOBAL read_only = ON'],
  promote: ['SET GLOBAL read_only = OFF'],
};

const STATEMENTS: Readonly<Record<ServerName, Statements>> = {
  mysql: MYSQL,
  mariadb: MYSQL,
  postgres: {
    administration: 'postgres',
    createUser: [`CREATE USER app PASSWORD 'secret'`, 'ALTER DATABASE app OWNER TO app'],
    demote: ['ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()'],
    promote: ['ALTER SYSTEM SET default_transaction_read_only = off', 'SELECT pg_reload_conf()'],
  },
};

/** A server of the test's own, with a guarded application in its database. */
export class OwnServerBench extends DatabaseBench {
  private constructor(
    readonly server: OwnServer,
    application: DataSource,
    readonly guard: JobGuard,
    readonly type: ServerName,
  ) {
    const { options } = application;
    super({ options, environment: {}, dispose: () => server.stop() }, application);
    this.closeAtEnd(guard);
  }

  static async on(type: ServerName): Promise<OwnServerBench> {
    const server = await ownServer(type);
    await administrate(type, server, ['CREATE DATABASE app', ...STATEMENTS[type].createUser]);
    const url = new URL(server.url);
    [url.username, url.password, url.pathname] = ['app', 'secret', '/app'];
    const options = { type, url: url.href } as const;
    const application = await migratedDataSource({ options });
    const guard = await createJobGuard(new DataSource(options), { logger: false, statementTimeout: '2s' });
    return new OwnServerBench(server, application, guard, type);
  }

  /** The server becomes a standby, which accepts no writes. */
  async demote(): Promise<void> {
    await administrate(this.type, this.server, STATEMENTS[this.type].demote);
  }

  async promote(): Promise<void> {
    await administrate(this.type, this.server, STATEMENTS[this.type].promote);
  }

  /** Connected. */
  async administrator(): Promise<DataSource> {
    const connected = await administrator(this.type, this.server);
    this.closeAtEnd({ close: () => connected.destroy() });
    return connected;
  }
}

async function administrate(
  type: ServerName,
  server: OwnServer,
  statements: readonly string[],
): Promise<void> {
  await using root = closing(await administrator(type, server));
  for (const statement of statements) await root.query(statement);
}

function administrator(type: ServerName, { url }: OwnServer): Promise<DataSource> {
  return new DataSource({ type, url: `${url}/${STATEMENTS[type].administration}` }).initialize();
}

/** One test for each kind of server, or for the given kinds, each with one that it may kill. */
export function testOnOwnServers(
  name: string,
  body: (bench: OwnServerBench) => Promise<void>,
  on: readonly ServerName[] = SERVER_NAMES,
): void {
  for (const server of on) {
    testOnOwn(server, name, async () => {
      await using bench = closing(await OwnServerBench.on(server));
      await body(bench);
    });
  }
}
