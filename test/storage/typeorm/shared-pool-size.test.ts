import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from 'cronlatch/provider';
import { databaseOf } from '#cronlatch/storage/typeorm/database';
import { DataSource, type DataSourceOptions } from 'typeorm';

function sizeOf(options: DataSourceOptions): number {
  const settings = { clock: systemClock, statementTimeoutMs: 5000, warn: () => {} };
  return databaseOf(new DataSource(options)).sharedConnections(settings).size;
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
