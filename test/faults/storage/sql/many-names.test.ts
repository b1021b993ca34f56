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

type Use = (from: number, to: number) => Promise<void>;

/** Locks and unlocks each of the names from one number to another, some of them at once. */
function useOf(provider: TypeOrmLockProvider): Use {
  return async (from, to) => {
    let used = from;
    const lane = async (): Promise<void> => {
      while (used < to) {
        const lock = await provider.lock({ name: lockName('ORDER', (used += 1)), lockAtMostFor: '1m' });
        assert.equal(await lock?.unlock(), true);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  };
}

async function useWithoutRows(database: TestDatabase, count: number): Promise<void> {
  await using dataSource = closing(await migratedDataSource(database));
  await using provider = closing(new TypeOrmLockProvider(dataSource, { keepRows: false }));
  const use = useOf(provider);
  await use(0, count / 10);
  const before = heapBytes();
  await use(count / 10, count);
  const grown = heapBytes() - before;
  assert.ok(grown < MOST_BYTES, `${grown} bytes`);
  assert.deepEqual(await lockRows(dataSource), []);
}

for (const name of ['sqlite', 'mysql'] as const)
  testWith(
    name,
    '10,000 names without kept rows, each used once, leave no row and a flat heap (F-68)',
    async (database) => await useWithoutRows(database, 10_000),
  );

/** Its rows are not on the heap of this process's JavaScript. */
const IN_MEMORY: TestDatabase = {
  options: { type: 'better-sqlite3', database: ':memory:' },
  environment: {},
  dispose: () => Promise.resolve(),
};

const skip = process.env['CRONLATCH_FULL'] === '1' ? false : 'so many names take minutes: npm run test:full';
if (skip !== false) reportLack('sqlite', skip);

void test(
  'a million names without kept rows, each used once, leave no row and a flat heap (F-68)',
  { skip },
  async () => await useWithoutRows(IN_MEMORY, 1_000_000),
);

/** More than a process remembers. */
const FILLED = 11_000;
const NAMES = 100_000;

void test(
  `${NAMES} names, each used once, leave only the remembered names in memory (F-68)`,
  { skip },
  async () => {
    await using dataSource = closing(await migratedDataSource(IN_MEMORY));
    await using provider = closing(new TypeOrmLockProvider(dataSource));
    const use = useOf(provider);
    await use(0, 100);
    const empty = heapBytes();
    await use(100, FILLED);
    const filled = heapBytes();
    await use(FILLED, NAMES);
    const grown = heapBytes();
    assert.ok(grown - empty < 10 * MOST_BYTES, `${grown - empty} bytes`);
    assert.ok(grown - filled < MOST_BYTES, `${grown - filled} bytes more for forgotten names`);
  },
);
