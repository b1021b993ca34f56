import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { closing } from '../../support/benches/closing';
import { createEffectTable } from '../../support/databases/effects';
import type { DatabaseName } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { ownServer, type Ensemble, type OwnServer } from '../../support/servers/own';
import { createRowLockTable } from '../../support/stores/row-lock-places';
import { HELD_ROWS, heldRows } from './held-rows';
import { openLocks, type HeldLock } from './locks/lock-place';
import { isLockServer, UsageError, type CampaignOptions, type CampaignServer } from './options';
import { proxyToDatabase, proxyToLocks, type CampaignProxy } from './squad/campaign-proxy';
import { survivor } from './survivor';
import type { WorkerOrders } from './worker/orders';

/** The database of the campaign, if possible on its own server, and the servers of the locks, if they are elsewhere. */
export interface Place {
  readonly name: CampaignServer;
  /** Of the database. */
  readonly type: DatabaseName;
  /** Of the server that the campaign is named after. */
  readonly version: string;
  /** A single server that may be killed. */
  readonly server: OwnServer | undefined;
  readonly ensemble: Ensemble | undefined;
  /** New proxies for one worker: one for each server. */
  proxies(): Promise<readonly CampaignProxy[]>;
  /** How a worker reaches everything through these ports. */
  ordersBy(ports: readonly number[]): Pick<WorkerOrders, 'options' | 'locks'>;
  /** Runs a statement as the operator, on a connection without faults. */
  ask(statement: string): Promise<Record<string, unknown>[]>;
  /** As the operator. Rejects if that did not happen, as far as it is known. */
  deleteLock(name: string): Promise<void>;
  /** Rejects if the server is down. */
  heldLocks(): Promise<readonly HeldLock[]>;
  close(): Promise<void>;
}

const DATABASE = 'chaos';
const ADMINISTRATION = { mysql: 'mysql', mariadb: 'mysql', postgres: 'postgres' } as const;

/** @throws UsageError if no such server is available */
export async function openPlace({
  server: name,
  wait,
}: Pick<CampaignOptions, 'server' | 'wait'>): Promise<Place> {
  if (!isLockServer(name)) return await openDatabase(name);
  const locks = await available(name, () => openLocks(name));
  const ledger = await openDatabase('sqlite');
  const urls = locks.servers.map(({ url }) => url);
  return {
    ...ledger,
    name,
    version: locks.version,
    server: locks.ensemble === undefined ? locks.servers[0] : undefined,
    ensemble: locks.ensemble,
    proxies: () => Promise.all(urls.map((url) => proxyToLocks(url, locks.protocol))),
    ordersBy: (ports) => ({
      ...ledger.ordersBy([]),
      locks: { server: name, ports, urls, sentinels: locks.sentinels, wait },
    }),
    deleteLock: (lock) => locks.deleteLock(lock),
    heldLocks: () => locks.heldLocks(),
    async close() {
      await locks.close();
      await ledger.close();
    },
  };
}

/** @throws UsageError if no such server is available */
async function openDatabase(type: DatabaseName): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'cronlatch-chaos-'));
  const server = type === 'sqlite' ? undefined : await available(type, () => ownServer(type));
  const optionsBy = (port?: number): DataSourceOptions => {
    if (type === 'sqlite')
      return { type: 'better-sqlite3', database: join(folder, 'chaos.sqlite'), enableWAL: true };
    const url = new URL(server?.url ?? '');
    url.pathname = DATABASE;
    if (port !== undefined) url.port = String(port);
    return { type, url: url.href };
  };
  const ask = (statement: string) => once(optionsBy(), statement);
  if (type !== 'sqlite')
    await once({ type, url: `${server?.url}/${ADMINISTRATION[type]}` }, `CREATE DATABASE ${DATABASE}`);
  const dataSource = await ledgerDataSource({ options: optionsBy() });
  await createEffectTable(dataSource);
  await createRowLockTable(dataSource);
  await dataSource.destroy();
  return {
    name: type,
    type,
    version: server?.version ?? (await sqliteVersion(optionsBy())),
    server,
    ensemble: undefined,
    proxies: async () =>
      type === 'sqlite' || server === undefined ? [] : [await proxyToDatabase(server.url, type)],
    ordersBy: ([port]) => ({ options: optionsBy(port) }),
    ask,
    deleteLock: async (name) => void (await ask(`DELETE FROM shedlock WHERE name = '${name}'`)),
    heldLocks: async () => heldRows(await ask(HELD_ROWS[type])),
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
  await using dataSource = closing(await new DataSource(survivor(options)).initialize());
  return await dataSource.query<Record<string, unknown>[]>(statement);
}

async function available<T>(name: CampaignServer, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if ((error as Error).name !== 'MissingServerError') throw error;
    throw new UsageError(`No ${name} is available.\n${(error as Error).message}`);
  }
}
