import assert from 'node:assert/strict';
import * as ours from 'cronlatch/typeorm';
import { testTypeOrmTransactions } from '../../support/benches/transaction';
import { secondCopyOf } from '../../support/processes/second-copy';

const theirs = secondCopyOf<typeof ours>('cronlatch/typeorm');

testTypeOrmTransactions(
  'inRunTransaction and completeRunIn of a second installed copy complete the run (F-99)',
  async (bench) => {
    assert.notEqual(theirs.inRunTransaction, ours.inRunTransaction);
    await bench.run(() => theirs.inRunTransaction((manager) => bench.effect(manager)));
    await bench.is('completed', [1]);
    const job = { name: 'in their own transaction' };
    const { dataSource } = bench.application;
    await bench.run(() => dataSource.transaction((manager) => theirs.completeRunIn(manager)), job);
    assert.equal((await bench.row(job.name)).state, 'completed');
  },
);
