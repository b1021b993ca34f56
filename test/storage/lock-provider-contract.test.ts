import { test } from 'node:test';
import { StorageBasedLockProvider } from 'cronlatch';
import { lockProviderContract, SettableClock, type LockProviderFixture } from 'cronlatch/testing';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { parseDuration } from '#cronlatch/core/duration';
import { InMemoryStorageAccessor } from '#cronlatch/storage/memory/in-memory-storage-accessor';
import { mysqlDatabase, sqliteDatabase, testOn, type TestDatabase } from '../support/databases';
import { migratedDataSource, nextMillisecond, shiftBack } from '../support/lock-table';

function memoryFixture(): LockProviderFixture {
  const clock = new SettableClock();
  const accessor = new InMemoryStorageAccessor(clock);
  return {
    provider: new StorageBasedLockProvider(accessor, { clock }),
    other: new StorageBasedLockProvider(accessor, { clock }),
    elapse: (duration) => clock.advance(duration),
    deleteRecord: (name) => void accessor.delete(name),
    dispose: () => {},
  };
}

async function sqlFixture(database: TestDatabase): Promise<LockProviderFixture> {
  const clock = new SettableClock();
  const dataSource = await migratedDataSource(database);
  const provider = new TypeOrmLockProvider(dataSource, { clock });
  const other = new TypeOrmLockProvider(dataSource, { clock });
  return {
    provider,
    other,
    async elapse(duration) {
      await shiftBack(dataSource, parseDuration(duration, 'elapse'));
      clock.advance(duration);
    },
    async deleteRecord(name) {
      await dataSource.query('DELETE FROM shedlock WHERE name = ?', [name]);
      // Tokens are seeded by the store's clock, and SQLite's steps by milliseconds.
      await nextMillisecond(dataSource);
    },
    async dispose() {
      await Promise.all([provider.close(), other.close()]);
      await dataSource.destroy();
      await database.dispose();
    },
  };
}

for (const { name, run } of lockProviderContract(memoryFixture)) void test(`memory: ${name}`, run);
for (const { name, run } of lockProviderContract(() => sqlFixture(sqliteDatabase())))
  void test(`sqlite: ${name}`, run);
for (const { name, run } of lockProviderContract(async () => await sqlFixture(await mysqlDatabase())))
  testOn('mysql', name, run);
