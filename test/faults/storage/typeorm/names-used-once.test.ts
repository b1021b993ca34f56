import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { lockName } from 'cronlatch';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { closing } from '../../../support/benches/closing';
import { reportLack, testWith, type TestDatabase } from '../../../support/databases/fresh';
import { lockRows, migratedDataSource } from '../../../support/databases/lock-table';

const MOST_BYTES = 2_000_000;
/** On SQLite, a release often waits for the next millisecond of the clock. */
const AT_ONCE = 16;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

async function useNames(database: TestDatabase, count: number): Promise<void> {
  await using dataSource = closing(await migratedDataSource(database));
  await using provider = closing(new TypeOrmLockProvider(dataSource, { keepRows: false }));
  let used = 0;
  const useUntil = async (end: number): Promise<void> => {
    const lane = async (): Promise<void> => {
      while (used < end) {
        const lock = await provider.lock({ name: lockName('ORDER', (used += 1)), lockAtMostFor: '1m' });
        assert.equal(await lock?.unlock(), true);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  };
  await useUntil(count / 10);
  const before = heapBytes();
  await useUntil(count);
  const grown = heapBytes() - before;
  assert.ok(grown < MOST_BYTES, `${grown} bytes`);
  assert.deepEqual(await lockRows(dataSource), []);
}

for (const name of ['sqlite', 'mysql'] as const)
  testWith(
    name,
    '10,000 names without kept rows, each used once, leave no row and a flat heap (F-68)',
    async (database) => await useNames(database, 10_000),
  );

const name = 'a million names without kept rows, each used once, leave no row and a flat heap (F-68)';
const skip =
  process.env['CRONLATCH_FULL'] === '1' ? false : 'a million names take minutes: npm run test:full';
if (skip !== false) reportLack('sqlite', skip);

void test(name, { skip }, async () => {
  const inMemory = {
    options: { type: 'better-sqlite3', database: ':memory:' },
    environment: {},
    dispose: () => Promise.resolve(),
  } as const;
  await useNames(inMemory, 1_000_000);
});
