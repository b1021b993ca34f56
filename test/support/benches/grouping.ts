import assert from 'node:assert/strict';
import { systemClock, type Clock } from '#cronlatch/core/clock';
import type { LockRequest } from '#cronlatch/core/lease/storage-accessor';
import type { SqlStatement } from '#cronlatch/storage/sql/statements/statement';
import type { SqlTablesOptions } from '#cronlatch/storage/sql/tables/verified-tables';
import { DatabaseAccess } from '#cronlatch/storage/sql/database/database-access';
import type { SqlDatabase } from '#cronlatch/storage/sql/connections/sql-database';
import { tableOf } from '#cronlatch/storage/sql/schema/tables';
import { GroupingStorageAccessor } from '#cronlatch/storage/sql/lock/grouping-storage-accessor';
import type { DataSource } from 'typeorm';
import { databaseOn, SERVER_NAMES, testOn, type ServerName } from '../databases/fresh';
import { migratedDataSource } from '../databases/lock-table';
import { driverDatabase } from '../stores/driver-database';

export const LIMIT = { timeoutMs: 5000 };

export function requestOf(name: string, owner = `owner of ${name}`): LockRequest {
  return { name, owner, lockAtMostForMs: 60_000, lockAtLeastForMs: 0 };
}

export function namesOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `job-${index}`);
}

/** Creates the records, each released by its owner. */
export async function releaseAll(accessor: GroupingStorageAccessor, names: readonly string[]): Promise<void> {
  for (const name of names) {
    assert.ok(await accessor.insertRecord(requestOf(name, 'earlier'), LIMIT));
    assert.ok(await accessor.unlock(requestOf(name, 'earlier'), LIMIT));
  }
}

type Connections = SqlTablesOptions['connections'];

interface Bench {
  readonly server: ServerName;
  readonly accessor: GroupingStorageAccessor;
  /** Other instances of the application. */
  readonly others: readonly [GroupingStorageAccessor, ...GroupingStorageAccessor[]];
  readonly operator: DataSource;
  /** The connections of `accessor`. */
  readonly connections: Connections;
  /** The statements of `accessor` since the last call. */
  readonly statements: () => readonly SqlStatement[];
  /** Fails the statements of `accessor` from now on with an error of the driver, if they begin so. */
  readonly failOn: (beginning: string, error: Error) => void;
}

interface BenchOptions {
  readonly instances?: number;
  readonly servers?: readonly ServerName[];
  readonly clock?: Clock;
}

/** A test on each server, with a fresh database. */
export function testGroups(
  name: string,
  body: (bench: Bench) => Promise<void>,
  { instances = 2, servers = SERVER_NAMES, clock = systemClock }: BenchOptions = {},
): void {
  for (const server of servers)
    testOn(server, name, async () => {
      const database = await databaseOn(server);
      const operator = await migratedDataSource(database);
      const driver = server === 'postgres' ? 'pg' : 'mysql2';
      const logs = Array.from({ length: instances }, (): SqlStatement[] => []);
      const opened = logs.map((log) => groupingAccessor(driverDatabase(driver, database.url), log, clock));
      const [accessor, other, ...others] = opened;
      try {
        assert.ok(accessor && other);
        for (const each of opened) await each.tables.check(LIMIT);
        const statements = (): SqlStatement[] => logs[0]?.splice(0) ?? [];
        statements();
        const failOn: Bench['failOn'] = (beginning, error) => {
          faults.set(logs[0] ?? [], { beginning, error });
        };
        await body({
          server,
          connections: accessor.connections,
          accessor,
          others: [other, ...others],
          operator,
          statements,
          failOn,
        });
      } finally {
        await Promise.all(opened.map((each) => each.close()));
        await operator.destroy();
        await database.dispose();
      }
    });
}

function groupingAccessor(
  database: SqlDatabase,
  log: SqlStatement[],
  clock: Clock,
): GroupingStorageAccessor & { close(): Promise<void>; readonly connections: Connections } {
  const access = new DatabaseAccess(database, { statementTimeout: '3s', clock });
  const connections = logging(access.forTables.connections, log);
  const table = tableOf('lock', {}, database);
  const options = {
    ...access.forTables,
    connections,
    table,
    clock,
    random: Math.random,
    shortestLimitMs: 0,
  };
  return Object.assign(new GroupingStorageAccessor(options), { close: () => access.close(), connections });
}

interface Fault {
  readonly beginning: string;
  readonly error: Error;
}

const faults = new WeakMap<SqlStatement[], Fault>();

function logging(connections: Connections, log: SqlStatement[]): Connections {
  return {
    nodeWait: undefined,
    isFree: (priority) => connections.isFree(priority),
    run: (use, limit) =>
      connections.run((session, endsAtMs) => {
        const execute: typeof session.execute = async (statement, endMs) => {
          log.push(statement);
          const fault = faults.get(log);
          if (fault !== undefined && statement.text.trimStart().startsWith(fault.beginning))
            throw fault.error;
          return await session.execute(statement, endMs);
        };
        const logged = { execute, transaction: session.transaction.bind(session) };
        return use(logged, endsAtMs);
      }, limit),
  };
}
