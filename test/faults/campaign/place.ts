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

/** The database of the campaign, if possible on its own server. */
export interface Place {
  readonly type: DatabaseName;
  readonly version: string;
  readonly server: OwnServer | undefined;
  /** With another port, for servers with ports. */
  optionsBy(port?: number): DataSourceOptions;
  /** Runs a statement as the operator, on a connection without faults. */
  ask(statement: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

const DATABASE = 'chaos';
const ADMINISTRATION = { mysql: 'mysql', mariadb: 'mysql', postgres: 'postgres' } as const;

/** @throws UsageError if no such server is available */
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

/** On a new connection, because earlier ones may have died with their server. */
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
    throw new UsageError(`No ${type} is available.\n${(error as Error).message}`);
  }
}
