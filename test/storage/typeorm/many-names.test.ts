import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { reportLack } from '../../support/databases/fresh';
import { migratedDataSource } from '../../support/databases/lock-table';

/** More than a process remembers. */
const FILLED = 11_000;
const NAMES = 100_000;
const MOST_BYTES = 20_000_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const name = `${NAMES} names, each used once, leave only the remembered names in memory (F-68)`;
const skip = process.env['CRONLATCH_FULL'] === '1' ? false : 'takes minutes: npm run test:full';
if (skip !== false) reportLack('sqlite', skip);

void test(name, { skip }, async () => {
  const dataSource = await migratedDataSource({
    // Its rows are not on the heap of this process's JavaScript.
    options: { type: 'better-sqlite3', database: ':memory:' },
    environment: {},
    dispose: () => Promise.resolve(),
  });
  const provider = new TypeOrmLockProvider(dataSource);
  const use = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i += 1) {
      const lock = await provider.lock({ name: `tenant-${i}-report`, lockAtMostFor: '1m' });
      assert.equal(await lock?.unlock(), true);
    }
  };
  await use(0, 100);
  const empty = heapBytes();
  await use(100, FILLED);
  const filled = heapBytes();
  await use(FILLED, NAMES);
  const grown = heapBytes();
  assert.ok(grown - empty < MOST_BYTES, `${grown - empty} bytes`);
  assert.ok(grown - filled < MOST_BYTES / 10, `${grown - filled} bytes more for forgotten names`);
  await provider.close();
  await dataSource.destroy();
});
