import assert from 'node:assert/strict';
import * as ours from 'cronlatch/typeorm';
import { testTypeOrmTransactions } from '../../support/benches/transaction';
import { secondCopyOf } from '../../support/processes/second-copy';

const theirs = secondCopyOf<typeof ours>('cronlatch/typeorm');

testTypeOrmTransactions(
  'inRunTransaction of a second installed copy completes the run (F-99)',
  async (bench) => {
    assert.notEqual(theirs.inRunTransaction, ours.inRunTransaction);
    await bench.run(() => theirs.inRunTransaction((manager) => bench.effect(manager)));
    assert.deepEqual(await bench.effects(), [1]);
    assert.equal((await bench.row()).state, 'completed');
  },
);

testTypeOrmTransactions(
  'completeRunIn of a second installed copy completes the run (F-99)',
  async (bench) => {
    await bench.run(() =>
      bench.application.dataSource.transaction(async (manager) => {
        await bench.effect(manager);
        await theirs.completeRunIn(manager);
      }),
    );
    assert.deepEqual(await bench.effects(), [1]);
    assert.equal((await bench.row()).state, 'completed');
  },
);
