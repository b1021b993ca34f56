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
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import dataSource from '../../ormconfig';
import { kindOfLock } from './locks';
import { Shop } from './shop';

const PROCESSES = 8;
const ITEMS = 1000;

async function sellerProcess(): Promise<number> {
  const seller = promisify(execFile)(process.execPath, [join(__dirname, 'seller')]);
  const sold = Number((await seller).stdout);
  console.log(`Process ${seller.child.pid} sold ${sold} items.`);
  return sold;
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
  const sales = await Promise.all(Array.from({ length: PROCESSES }, sellerProcess));
  const buyers = sales.reduce((sum, sold) => sum + sold, 0);
  const sold = ITEMS - (await shop.itemsLeft());
  console.log(
    `Under the ${kindOfLock} lock, ${buyers} buyers got an item. ${sold} of ${ITEMS} items are sold.`,
  );
  await dataSource.destroy();
}

void main();
