/** The lock providers of the drivers, without a guard and without TypeORM. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError, LockManager } from 'cronlatch';
import { BetterSqlite3LockProvider } from 'cronlatch/better-sqlite3';
import { Mysql2LockProvider } from 'cronlatch/mysql2';
import { PgLockProvider } from 'cronlatch/pg';
import type { LockProvider } from 'cronlatch/provider';
import { testDrivers } from '../../support/benches/driver';

testDrivers(
  'providers from an address and from a pool exclude each other, and keep the pool',
  async (bench) => {
    await bench.createTables();
    const providers = [bench.lockProvider(), bench.lockProvider(bench.pool())];
    const managers = providers.map((provider) => new LockManager(provider, { lockAtMostFor: '30s' }));
    const [first, ...others] = managers;
    assert.ok(first !== undefined);
    try {
      for (const provider of providers) await provider.check();
      const lock = await first.lock('order');
      for (const other of others) assert.equal(await other.tryLock('order'), undefined);
      assert.equal(await lock.unlock(), true);
      for (const other of others) assert.equal(await other.withLock('order', () => 'sold'), 'sold');
      assert.equal(new Set(providers.map(({ id }) => id)).size, 1);
      assert.ok(providers[0]?.id);
    } finally {
      for (const manager of managers) await manager.close();
      for (const provider of providers) await provider.close();
    }
    assert.equal((await bench.query('SELECT 1')).length, 1);
  },
);

testDrivers('a router by tenant sends each lock to the table of its tenant', async (bench) => {
  const tables = { acme: 'locks_acme', zeta: 'locks_zeta' };
  for (const lockTable of Object.values(tables))
    await bench.createTables(undefined, { tables: ['lock'], lockTable });
  const tenants = {
    acme: bench.lockProvider(undefined, { lockTable: tables.acme }),
    zeta: bench.lockProvider(undefined, { lockTable: tables.zeta }),
  };
  const router: LockProvider = {
    lock: (configuration, observer) =>
      tenants[configuration.name.startsWith('acme:') ? 'acme' : 'zeta'].lock(configuration, observer),
  };
  const manager = new LockManager(router, { lockAtMostFor: '30s' });
  try {
    for (const tenant of ['acme', 'zeta'] as const) {
      const name = `${tenant}:order`;
      assert.ok(await manager.tryLock(name));
      assert.deepEqual(
        await bench.query(`SELECT name FROM ${tables[tenant]} WHERE name <> 'cronlatch-place'`),
        [{ name }],
      );
    }
  } finally {
    await manager.close();
    for (const provider of Object.values(tenants)) await provider.close();
  }
});

const PROVIDERS = [
  [Mysql2LockProvider, 'mysql://app@db.example/app'],
  [PgLockProvider, 'postgres://app@db.example/app'],
  [BetterSqlite3LockProvider, 'sqlite:jobs.db'],
] as const;

void test('an unusable source or a misspelt option is refused before anything is sent', () => {
  for (const [Provider, address] of PROVIDERS) {
    assert.throws(() => new Provider(null as never), InvalidLockConfigurationError);
    assert.throws(() => new Provider(address, { statementTimeout: '1s', ...{ lockTabel: 'locks' } }), {
      message: `Unknown option 'lockTabel' for ${Provider.name}. Did you mean 'lockTable'?`,
    });
  }
});
