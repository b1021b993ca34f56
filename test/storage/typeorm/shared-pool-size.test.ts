import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from 'cronlatch/provider';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { postgres } from '#cronlatch/storage/sql/dialects/postgres';
import { mysqlDriver } from '#cronlatch/storage/typeorm/mysql-driver';
import { postgresDriver } from '#cronlatch/storage/typeorm/postgres-driver';
import { SharedServerConnections } from '#cronlatch/storage/typeorm/server-connections';
import { DataSource, type DataSourceOptions } from 'typeorm';

function sizeOf(options: DataSourceOptions): number {
  const [driver, dialect] = options.type === 'postgres' ? [postgresDriver, postgres] : [mysqlDriver, mysql];
  return new SharedServerConnections(new DataSource(options), driver, dialect, systemClock).size;
}

void test("with shared connections, the library uses no more connections than the application's pool has", () => {
  for (const [options, size] of [
    [{}, 2],
    [{ poolSize: 1 }, 1],
    [{ poolSize: 10, extra: { connectionLimit: 1 } }, 1],
    [{ extra: { connectionLimit: '1' } }, 1],
    [{ poolSize: 1, extra: { connectionLimit: 10 } }, 2],
    [{ poolSize: 1, extra: { max: 10 } }, 1],
    [{ replication: { master: { host: 'a', poolSize: 1 }, slaves: [] } }, 1],
  ] as const) {
    assert.equal(sizeOf({ type: 'mysql', ...options } as DataSourceOptions), size, JSON.stringify(options));
  }
  for (const [options, size] of [
    [{}, 2],
    [{ poolSize: 1 }, 1],
    [{ poolSize: 10, extra: { max: 1 } }, 1],
    [{ extra: { max: '1' } }, 1],
    [{ poolSize: 1, extra: { max: 10 } }, 2],
    [{ poolSize: 1, extra: { connectionLimit: 10 } }, 1],
  ] as const) {
    assert.equal(sizeOf({ type: 'postgres', ...options }), size, JSON.stringify(options));
  }
});
