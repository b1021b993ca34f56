import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { JobGuard } from 'cronlatch';
import { createJobGuard, TypeOrmLockProvider } from 'cronlatch/typeorm';
import type { DataSource } from 'typeorm';
import { LOCKS } from '../../../examples/flash-sale/locks';
import { sellUntilSoldOut, Shop } from '../../../examples/flash-sale/shop';
import { exampleStarter } from '../../examples/running-example';
import { testOnServers, type ServerBench } from '../../support/benches/server';
import {
  DATABASE_NAMES,
  SERVER_NAMES,
  sqliteDatabase,
  testOn,
  testWith,
  type DatabaseName,
} from '../../support/databases/fresh';
import { sampleSize } from '../../support/checks/sample-size';
import { runningServer } from '../../support/servers/running';

const KINDS = Object.keys(LOCKS) as (keyof typeof LOCKS)[];
const OUTSIDE: readonly string[] = ['redis', 'zookeeper', 'etcd'];
/** The contracts show each kind of lock on every database. `npm run test:full` shows the sales there too. */
const ON = sampleSize<Readonly<Record<string, readonly DatabaseName[]>>>({
  fast: { lease: ['mysql', 'sqlite'], unique: ['mariadb', 'sqlite'], row: ['postgres'], none: ['mysql'] },
  full: { lease: DATABASE_NAMES, unique: DATABASE_NAMES, row: SERVER_NAMES, none: SERVER_NAMES },
});

void describe('flash-sale', () => {
  for (const [part, kind] of KINDS.entries()) {
    if (OUTSIDE.includes(kind)) {
      testOn(kind, `under the ${kind} lock, eight processes sell 1000 items`, async (t) => {
        const database = sqliteDatabase();
        t.after(() => database.dispose());
        const server = { LOCK: kind, [`${kind.toUpperCase()}_URL`]: runningServer(kind)?.url ?? '' };
        const environment = { ...database.environment, ...server };
        await exampleStarter('flash-sale', t, { ...database, environment })().printsAndEnds(part);
      });
      continue;
    }
    for (const server of ON[kind] ?? [])
      testWith(server, `under the ${kind} lock, eight processes sell 1000 items`, async (database, t) => {
        const environment = { ...database.environment, LOCK: kind };
        const example = exampleStarter('flash-sale', t, { ...database, environment })();
        await example.printsAndEnds(part);
        const buyers = Number(/(\d+) buyers/.exec(example.lines.at(-1) ?? '')?.[1]);
        if (kind === 'none') assert.ok(buyers > 1000, 'without a lock, too many buyers get an item');
      });
  }

  testOnServers('if a lock provider ignores the owner, buyers get nothing', async (bench) => {
    const { buyers, sold } = await openSale(bench, async (dataSource) => {
      const provider = bench.closeAtEnd(new TypeOrmLockProvider(dataSource));
      const lock: typeof provider.lock = async (configuration) => {
        await dataSource.query('UPDATE shedlock SET lock_until = locked_at'); // The lease of any holder ends.
        return await provider.lock(configuration);
      };
      return await createJobGuard(dataSource, { lockProvider: { lock }, logger: false });
    });
    assert.ok(buyers > sold, `${buyers} buyers, ${sold} sold`);
  });
});

/** Four instances, each connected, sell 500 items. */
async function openSale(
  bench: ServerBench,
  openGuard: (dataSource: DataSource) => Promise<JobGuard>,
): Promise<{ buyers: number; sold: number }> {
  const { application: dataSource } = bench;
  const shop = new Shop(dataSource);
  await shop.open(500);
  const guards = await Promise.all(
    [1, 2, 3, 4].map(async () => bench.closeAtEnd(await openGuard(dataSource))),
  );
  const warmUp = guards.map((guard, i) => guard.run({ name: `warm-up-${i}`, lockAtMostFor: '1m' }, () => {}));
  await Promise.all(warmUp);
  const sales = await Promise.all(guards.map((guard) => sellUntilSoldOut(guard, shop)));
  const sold = 500 - (await shop.itemsLeft());
  return { buyers: sales.reduce((sum, each) => sum + each, 0), sold };
}
