/**
 * Goods that are ordered once, in three layers. The lock lets one buyer at a time try, so the others do not wait inside
 * the database. The transaction locks the row of the item, so that status and order change together. The row keeps the
 * fencing token of its last buyer, so a buyer whose lease has expired is refused.
 *
 * Run: npm run example goods-to-order
 * Prints:
 *   Buyer … ordered the item.
 *   1 of 8 buyers ordered it. 1 order is stored.
 *   A holder of an older lease is refused.
 */
import { lockName } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

const ITEM = 17;
/** SQLite has one writer at a time instead of locked rows. */
const locksRows = dataSource.options.type !== 'better-sqlite3';

/** @returns whether this buyer got the item */
async function order(buyer: number, token: number): Promise<boolean> {
  return await dataSource.transaction(async (manager) => {
    const query = manager
      .createQueryBuilder()
      .select(['status', 'token'])
      .from('goods', 'goods')
      .where('id = :item', { item: ITEM });
    if (locksRows) query.setLock('pessimistic_write'); // SELECT … FOR UPDATE
    const item = await query.getRawOne<{ status: string; token: string }>();
    if (item?.status !== 'free' || Number(item.token) >= token) return false;
    const ordered = { status: 'ordered', token };
    await manager
      .createQueryBuilder()
      .update('goods')
      .set(ordered)
      .where('id = :item', { item: ITEM })
      .execute();
    await manager.createQueryBuilder().insert().into('goods_order').values({ item: ITEM, buyer }).execute();
    return true;
  });
}

async function setStatus(status: string): Promise<void> {
  await dataSource.createQueryBuilder().update('goods').set({ status }).execute();
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the lock table.
  for (const table of ['goods', 'goods_order']) await dataSource.query(`DROP TABLE IF EXISTS ${table}`);
  await dataSource.query('CREATE TABLE goods (id INT, status VARCHAR(10), token BIGINT)');
  await dataSource.query('CREATE TABLE goods_order (item INT, buyer INT)');
  await dataSource
    .createQueryBuilder()
    .insert()
    .into('goods')
    .values({ id: ITEM, status: 'free', token: 0 })
    .execute();

  const guard = await createJobGuard(dataSource);
  const locks = guard.lockManager();
  const lock = { name: lockName('ITEM', ITEM), lockAtMostFor: '10s' } as const;
  let oldToken = 0;
  const buyers = Array.from({ length: 8 }, (_, buyer) =>
    locks.withLock(lock, async ({ fencingToken = 0 }) => {
      oldToken ||= fencingToken;
      const isOrdered = await order(buyer, fencingToken);
      if (isOrdered) console.log(`Buyer ${buyer} ordered the item.`);
      return isOrdered;
    }),
  );
  const successes = (await Promise.all(buyers)).filter(Boolean).length;
  const orders = await dataSource.query<unknown[]>('SELECT buyer FROM goods_order');
  console.log(`${successes} of ${buyers.length} buyers ordered it. ${orders.length} order is stored.`);

  await setStatus('free'); // A customer returns it. Then a buyer wakes up whose lease expired long ago.
  if (!(await order(99, oldToken))) console.log('A holder of an older lease is refused.');
  await guard.close();
  await dataSource.destroy();
}

void main();
