import assert from 'node:assert/strict';
import * as ours from 'cronlatch/typeorm';
import { testTransactions } from '../../support/benches/transaction';
import { secondCopyOf } from '../../support/processes/second-copy';

const theirs = secondCopyOf<typeof ours>('cronlatch/typeorm');

testTransactions('inRunTransaction of a second installed copy completes the run (F-99)', async (bench) => {
  assert.notEqual(theirs.inRunTransaction, ours.inRunTransaction);
  await bench.run(() => theirs.inRunTransaction((manager) => bench.effect(manager)));
  assert.deepEqual(await bench.effects(), [1]);
  assert.equal((await bench.row()).state, 'completed');
});

testTransactions('completeRunIn of a second installed copy completes the run (F-99)', async (bench) => {
  await bench.run(() =>
    bench.application.transaction(async (manager) => {
      await bench.effect(manager);
      await theirs.completeRunIn(manager);
    }),
  );
  assert.deepEqual(await bench.effects(), [1]);
  assert.equal((await bench.row()).state, 'completed');
});
