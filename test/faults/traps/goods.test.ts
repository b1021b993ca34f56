/** Items that may be ordered once: the row itself is locked, in the transaction that also writes the order. */
import assert from 'node:assert/strict';
import type { DataSource, EntityManager } from 'typeorm';
import { testOnServers, type ServerBench } from '../../support/benches/server';

const BUYERS = 8;

type Order = (transaction: EntityManager, buyer: number) => Promise<boolean>;

/** `where` is that of the UPDATE. */
function orderBy(where: string): Order {
  return async (transaction, buyer) => {
    const read = 'SELECT status FROM goods WHERE id = 1 FOR UPDATE';
    const [item] = await transaction.query<{ status: string }[]>(read);
    if (item?.status !== 'free') return false;
    await transaction.query(`UPDATE goods SET status = 'ordered' ${where}`);
    await transaction.query(`INSERT INTO goods_order VALUES (1, ${buyer})`);
    return true;
  };
}

/** All buyers want item 1 at once. No buyer wants item 2. */
async function assertOrderedOnce(bench: ServerBench, order: Order): Promise<void> {
  const dataSource: DataSource = await bench.connected();
  await dataSource.query('CREATE TABLE goods (id INT PRIMARY KEY, status VARCHAR(10) NOT NULL)');
  await dataSource.query('CREATE TABLE goods_order (item INT NOT NULL, buyer INT NOT NULL)');
  await dataSource.query(`INSERT INTO goods VALUES (1, 'free'), (2, 'free')`);
  const buyers = Array.from({ length: BUYERS }, (_, buyer) =>
    dataSource.transaction(async (transaction) => await order(transaction, buyer)),
  );
  const successes = (await Promise.all(buyers)).filter(Boolean).length;
  const orders = await dataSource.query<unknown[]>('SELECT item FROM goods_order');
  assert.equal(orders.length, successes);
  assert.ok(successes === 1, 'item 1 was ordered more than once');
  const [other] = await dataSource.query<{ status: string }[]>('SELECT status FROM goods WHERE id = 2');
  assert.ok(other?.status === 'free', 'item 2 was ordered too');
}

testOnServers('an item whose row is locked is ordered once', async (bench) => {
  await assertOrderedOnce(bench, orderBy('WHERE id = 1'));
});

testOnServers('an UPDATE without a WHERE orders all items', async (bench) => {
  await assert.rejects(assertOrderedOnce(bench, orderBy('')), { message: 'item 2 was ordered too' });
});
