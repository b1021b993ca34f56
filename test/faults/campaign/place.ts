import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { DatabaseName } from '../../support/databases';
import { createEffectTable } from '../../support/effects';
import { ownServer, type OwnServer } from '../../support/own-server';
import { ledgerDataSource } from '../../support/run-places';
import { UsageError } from './options';
import { survivor } from './survivor';

/** Where the campaign takes place: a database, on a server of its own if it has one. */
export interface Place {
  readonly type: DatabaseName;
  readonly version: string;
  readonly server: OwnServer | undefined;
  /** By way of a port, where there are ports. */
  optionsBy(port?: number): DataSourceOptions;
  /** A statement of the operator's, past everything that is struck. */
  ask(statement: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

const DATABASE = 'chaos';
const ADMINISTRATION = { mysql: 'mysql', mariadb: 'mysql', postgres: 'postgres' } as const;

/** @throws UsageError when there is no such server to be had */
export async function openPlace(type: DatabaseName): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'cronlatch-chaos-'));
  const server = type === 'sqlite' ? undefined : await startedServer(type);
  const optionsBy = (port?: number): DataSourceOptions => {
    if (type === 'sqlite')
      return { type: 'better-sqlite3', database: join(folder, 'chaos.sqlite'), enableWAL: true };
    const url = new URL(server?.url ?? '');
    url.pathname = DATABASE;
    if (port !== undefined) url.port = String(port);
    return { type, url: url.href };
  };
  if (type !== 'sqlite')
    await once({ type, url: `${server?.url}/${ADMINISTRATION[type]}` }, `CREATE DATABASE ${DATABASE}`);
  const dataSource = await ledgerDataSource({
    options: optionsBy(),
    environment: {},
    dispose: () => Promise.resolve(),
  });
  await createEffectTable(dataSource);
  await dataSource.destroy();
  return {
    type,
    version: server?.version ?? (await sqliteVersion(optionsBy())),
    server,
    optionsBy,
    ask: (statement) => once(optionsBy(), statement),
    async close() {
      await server?.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

async function sqliteVersion(options: DataSourceOptions): Promise<string> {
  const [row] = await once(options, 'SELECT sqlite_version() AS version');
  return String(row?.['version']);
}

/** On a connection that is made for it: the one of a moment ago may be gone with its server. */
async function once(options: DataSourceOptions, statement: string): Promise<Record<string, unknown>[]> {
  const dataSource = await new DataSource(survivor(options)).initialize();
  try {
    return await dataSource.query<Record<string, unknown>[]>(statement);
  } finally {
    await dataSource.destroy();
  }
}

async function startedServer(type: Exclude<DatabaseName, 'sqlite'>): Promise<OwnServer> {
  try {
    return await ownServer(type);
  } catch (error) {
    if ((error as Error).name !== 'MissingServerError') throw error;
    throw new UsageError(`There is no ${type} to be tried.\n${(error as Error).message}`);
  }
}
