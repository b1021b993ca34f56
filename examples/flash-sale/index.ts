/**
 * A flash sale in eight processes, under a lock of your choice: as many buyers get an item as there are items.
 *
 * Run: npm run example flash-sale
 * Prints:
 *   Process … sold … items.
 *   …
 *   Under the lease lock, 1000 buyers got an item. 1000 of 1000 items are sold.
 * With LOCK=unique in the environment, it prints:
 *   Process … sold … items.
 *   …
 *   Under the unique lock, 1000 buyers got an item. 1000 of 1000 items are sold.
 * With LOCK=row and the DATABASE_URL of a server, it prints:
 *   Process … sold … items.
 *   …
 *   Under the row lock, 1000 buyers got an item. 1000 of 1000 items are sold.
 * With LOCK=redis and REDIS_URL, it prints:
 *   Process … sold … items.
 *   …
 *   Under the redis lock, 1000 buyers got an item. 1000 of 1000 items are sold.
 * With LOCK=zookeeper and ZOOKEEPER_URL, it prints:
 *   Process … sold … items.
 *   …
 *   Under the zookeeper lock, 1000 buyers got an item. 1000 of 1000 items are sold.
 * With LOCK=etcd and ETCD_URL, it prints:
 *   Process … sold … items.
 *   …
 *   Under the etcd lock, 1000 buyers got an item. 1000 of 1000 items are sold.
 * With LOCK=none, too many buyers get an item. It prints:
 *   Process … sold … items.
 *   …
 *   Without a lock, … buyers got an item. 1000 of 1000 items are sold.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import dataSource from '../../ormconfig';
import { kindOfLock } from './locks';
import { Shop } from './shop';

const PROCESSES = 8;
const ITEMS = 1000;

async function messageOf(seller: ChildProcess): Promise<unknown> {
  return (await once(seller, 'message'))[0];
}

/** All begin at the same time. */
async function salesOf(sellers: readonly ChildProcess[]): Promise<readonly number[]> {
  await Promise.all(sellers.map(messageOf));
  for (const seller of sellers) seller.send('open');
  return await Promise.all(
    sellers.map(async (seller) => {
      const sold = Number(await messageOf(seller));
      console.log(`Process ${seller.pid} sold ${sold} items.`);
      return sold;
    }),
  );
}

async function main(): Promise<void> {
  if (kindOfLock === 'row') {
    const migrations = [createCronlatchMigration({ tables: ['row-lock'] })];
    dataSource.setOptions({ migrations });
  }
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the table of the locks.
  const shop = new Shop(dataSource);
  await shop.open(ITEMS);
  const sellers = Array.from({ length: PROCESSES }, () => fork(join(__dirname, 'seller')));
  const sales = await salesOf(sellers);
  const buyers = sales.reduce((sum, sold) => sum + sold, 0);
  const sold = ITEMS - (await shop.itemsLeft());
  const under = kindOfLock === 'none' ? 'Without a lock' : `Under the ${kindOfLock} lock`;
  console.log(`${under}, ${buyers} buyers got an item. ${sold} of ${ITEMS} items are sold.`);
  await dataSource.destroy();
}

void main();
