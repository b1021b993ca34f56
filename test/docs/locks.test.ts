import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockLostError, type JobGuard } from 'cronlatch';
import { useTestGuard } from 'cronlatch/testing';
import { createJobGuard } from 'cronlatch/typeorm';
import { closing } from '../support/benches/closing';
import { testCodeOn } from '../support/checks/page-tests';
import { testOnEvery } from '../support/databases/fresh';
import { insertLockRow, migratedDataSource } from '../support/databases/lock-table';
import { InvoiceJobs } from './locks/invoices';
import { freeLocksOf } from './locks/operating';
import { processOrder } from './locks/orders';

testCodeOn('docs/locks.md', 'test/docs/locks');

void test('the job with a keep-alive stops when the lease is lost', async () => {
  await using bench = useTestGuard();
  const sent: string[] = [];
  const invoice = (name: string, after = (): void => {}) => ({
    send: () => Promise.resolve(void sent.push(name)).then(after),
  });
  const jobs = new InvoiceJobs([invoice('a'), invoice('b', () => bench.clock.stall('1m')), invoice('c')]);
  await assert.rejects(jobs.sendInvoices(), LockLostError);
  assert.deepEqual(sent, ['a', 'b']);
});

testOnEvery('an order is processed by one of two instances, and leaves no row', async (database) => {
  const dataSource = await migratedDataSource(database);
  const open = (): Promise<JobGuard> => createJobGuard(dataSource, { keepRows: false, logger: false });
  const [guard, other] = [await open(), await open()];
  try {
    const executed = await processOrder(guard, 17, async () => {
      assert.equal(await processOrder(other, 17, () => assert.fail('ran')), false);
      assert.equal(await processOrder(other, 18, () => Promise.resolve()), true);
    });
    assert.equal(executed, true);
    assert.deepEqual(await guard.locks.list(), []);
  } finally {
    await guard.close();
    await other.close();
    await dataSource.destroy();
  }
});

testOnEvery('an operator frees the locks of a host', async (database, t) => {
  const log = t.mock.method(console, 'log', () => {});
  await using dataSource = closing(await migratedDataSource(database));
  await using guard = closing(await createJobGuard(dataSource, { logger: false }));
  for (const [name, lockedBy] of Object.entries({ a: 'node-7:web-1/7/x', b: 'web-2/7/x' }))
    await insertLockRow(dataSource, { name, lockedBy, endsInMs: 60_000 });
  assert.deepEqual(await freeLocksOf(guard, 'web-1'), ['a']);
  assert.equal(log.mock.callCount(), 1);
  const states = await guard.locks.list();
  assert.deepEqual(
    states.map(({ name, isHeld }) => [name, isHeld]),
    [
      ['a', false],
      ['b', true],
    ],
  );
});
