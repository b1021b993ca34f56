import assert from 'node:assert/strict';
import { ClaimLostError, RunAlreadyCompletedError } from 'cronlatch';
import { completeRunIn } from 'cronlatch/typeorm';
import { reasonOf } from '../../support/benches/guard';
import { testTransactions } from '../../support/benches/transaction';

testTransactions('a run is completed in the transaction that the job commits', async (bench) => {
  await bench.run(() =>
    bench.application.transaction(async (manager) => {
      await bench.effect(manager);
      await completeRunIn(manager, { result: { lines: 3 } });
      await assert.rejects(completeRunIn(manager), RunAlreadyCompletedError);
    }),
  );
  const { state, result } = await bench.row();
  assert.deepEqual([state, result], ['completed', '{"lines":3}']);
  assert.deepEqual(await bench.effects(), [1]);
  assert.deepEqual(await bench.run(() => assert.fail()), { executed: false, reason: 'already-completed' });
});

testTransactions('a transaction that throws after the completion fails the attempt', async (bench) => {
  const done = bench.run(() =>
    bench.application.transaction(async (manager) => {
      await bench.effect(manager);
      await completeRunIn(manager);
      throw new Error('no bank today');
    }),
  );
  await assert.rejects(done, /no bank today/);
  assert.equal((await bench.row()).state, 'failed');
  assert.deepEqual(await bench.effects(), []);
});

testTransactions(
  'a transaction that the job rolled back has completed nothing, and the error reports it',
  async (bench) => {
    const thrown = await reasonOf(
      bench.run(async () => {
        const runner = bench.application.createQueryRunner();
        await runner.startTransaction();
        await bench.effect(runner.manager);
        await completeRunIn(runner.manager);
        await runner.rollbackTransaction();
        await runner.release();
        return 'done';
      }),
    );
    assert.ok(thrown instanceof ClaimLostError);
    assert.match(
      thrown.message,
      /The transaction that completed the run of job 'close-day' for today was not committed, so the attempt counts as failed/,
    );
    assert.deepEqual(bench.eventsOf('run:failed')[0]?.error, thrown);
    assert.equal((await bench.row()).state, 'failed');
    assert.deepEqual(await bench.history(), ['failed']);
    await bench.run(() => bench.application.transaction((manager) => completeRunIn(manager)));
    const { state, attempt } = await bench.row();
    assert.deepEqual([state, attempt], ['completed', 2]);
  },
);

testTransactions('a failed completion may be retried in another transaction', async (bench) => {
  await bench.run(async () => {
    await assert.rejects(
      completeRunIn(bench.application.manager),
      /needs a manager with an open transaction\. Call it inside dataSource\.transaction\(async \(manager\) => \{ … \}\)/,
    );
    await bench.application.transaction((manager) => completeRunIn(manager));
  });
  assert.equal((await bench.row()).state, 'completed');
});

testTransactions('a holder whose run was taken over cannot complete it', async (bench) => {
  const done = bench.run(async () => {
    await bench.seize();
    await bench.application.transaction(async (manager) => {
      await bench.effect(manager);
      await completeRunIn(manager);
    });
  });
  await assert.rejects(done, ClaimLostError);
  assert.deepEqual(await bench.effects(), []);
});
