import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockLostError } from 'cronlatch';
import { useTestGuard } from 'cronlatch/testing';
import { testCodeOn } from '../support/page-tests';
import { InvoiceJobs } from './locks/invoices';

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
