import assert from 'node:assert/strict';
import { ClaimLostError, currentRun, InvalidLockUseError, RunAlreadyCompletedError } from 'cronlatch';
import { inRunTransaction } from 'cronlatch/typeorm';
import { reasonOf } from '../../support/guard-bench';
import { testTransactions } from '../../support/transaction-bench';

testTransactions(
  'the effects, the completion and what the work returned are committed together',
  async (bench) => {
    const value = { lines: 3, note: `it's a "day" \\ 𝄞` };
    const result = await bench.run(async () => {
      assert.deepEqual(
        await inRunTransaction(async (manager) => {
          await bench.effect(manager);
          assert.deepEqual(await bench.effects(), [], 'nobody sees them before');
          return value;
        }),
        value,
      );
      assert.deepEqual(await bench.effects(), [1]);
      assert.equal((await bench.row()).state, 'completed');
      return 'the handler returns something else';
    });
    assert.deepEqual(result, { executed: true, value: 'the handler returns something else' });
    const { state, attempt, result: kept } = await bench.row();
    assert.deepEqual([state, attempt, JSON.parse(kept ?? 'null')], ['completed', 1, value]);
    assert.deepEqual(await bench.history(), []);
    assert.deepEqual(await bench.run(assert.fail), { executed: false, reason: 'already-completed' });
    assert.equal(bench.told('run:completed').length, 1);
    assert.deepEqual(bench.told('guard:warning'), []);
  },
);

testTransactions(
  'work that throws leaves nothing behind, fails the attempt, and is done once by the next',
  async (bench) => {
    const handler = (fails: boolean) => (): Promise<void> =>
      inRunTransaction(async (manager) => {
        await bench.effect(manager);
        if (fails) throw new Error('no bank today');
      });
    await assert.rejects(bench.run(handler(true)), /no bank today/);
    assert.deepEqual(await bench.effects(), []);
    assert.equal((await bench.row()).state, 'failed');
    await bench.run(handler(false));
    assert.deepEqual(await bench.effects(), [2]);
    assert.equal((await bench.row()).state, 'completed');
    assert.deepEqual(await bench.history(), ['failed']);
  },
);

testTransactions('a transaction that failed may be tried again inside the handler', async (bench) => {
  await bench.run(async () => {
    const failing = inRunTransaction(async (manager) => {
      await bench.effect(manager);
      throw new Error('a deadlock, say');
    });
    await assert.rejects(failing, /a deadlock, say/);
    await inRunTransaction((manager) => bench.effect(manager));
  });
  assert.deepEqual(await bench.effects(), [1]);
  assert.equal((await bench.row()).state, 'completed');
});

testTransactions('after it, the run takes no second completion, and cannot be given up', async (bench) => {
  await bench.run(async () => {
    await inRunTransaction((manager) => bench.effect(manager));
    await assert.rejects(
      inRunTransaction(() => assert.fail()),
      RunAlreadyCompletedError,
    );
    assert.throws(() => currentRun().giveBack(), RunAlreadyCompletedError);
    assert.throws(() => currentRun().skip('no day'), RunAlreadyCompletedError);
  });
  assert.deepEqual(await bench.effects(), [1]);
  assert.equal((await bench.row()).state, 'completed');
});

testTransactions('a second one at the same time is refused', async (bench) => {
  await bench.run(() =>
    inRunTransaction(async (manager) => {
      await assert.rejects(
        inRunTransaction(() => assert.fail()),
        RunAlreadyCompletedError,
      );
      await bench.effect(manager);
    }),
  );
  assert.deepEqual(await bench.effects(), [1]);
});

testTransactions('a run that its handler has given back is not completed', async (bench) => {
  await bench.run(async () => {
    currentRun().giveBack();
    await assert.rejects(
      inRunTransaction(() => assert.fail()),
      InvalidLockUseError,
    );
  });
  const { state, attempt } = await bench.row();
  assert.deepEqual([state, attempt], ['pending', 0]);
});

testTransactions('an error after the commit is told, and leaves the run completed', async (bench) => {
  const error = new Error('no mail today');
  const thrown = await reasonOf(
    bench.run(async () => {
      await inRunTransaction((manager) => bench.effect(manager));
      throw error;
    }),
  );
  assert.equal(thrown, error);
  assert.equal(bench.told('run:failed')[0]?.error, error);
  assert.equal((await bench.row()).state, 'completed');
  assert.deepEqual(await bench.history(), []);
  assert.deepEqual(await bench.run(assert.fail), { executed: false, reason: 'already-completed' });
});

testTransactions('a run that was taken for interrupted is completed late', async (bench) => {
  await bench.run(async () => {
    await bench.write(`state = 'interrupted', reason = 'crashed'`);
    await inRunTransaction((manager) => bench.effect(manager));
  });
  const { state, reason } = await bench.row();
  assert.deepEqual([state, reason], ['completed', undefined]);
  assert.deepEqual(await bench.history(), ['completed-late']);
  assert.deepEqual(await bench.effects(), [1]);
});

testTransactions('whom somebody has taken the run from has no effects', async (bench) => {
  const thrown = await reasonOf(
    bench.run(async () => {
      await bench.seize();
      await inRunTransaction((manager) => bench.effect(manager));
    }),
  );
  assert.ok(thrown instanceof ClaimLostError);
  assert.match(thrown.message, /'close-day' for today .* stands as running, generation 0, attempt 2/);
  assert.deepEqual(await bench.effects(), []);
  assert.equal((await bench.row()).state, 'running');
});

testTransactions('what stands as completed already is not done again', async (bench) => {
  const done = bench.run(async () => {
    await bench.write(`state = 'completed'`);
    await inRunTransaction((manager) => bench.effect(manager));
  });
  await assert.rejects(done, RunAlreadyCompletedError);
  assert.deepEqual(await bench.effects(), []);
  assert.equal((await bench.row()).state, 'completed');
});

testTransactions('a row that is gone is a claim that is lost', async (bench) => {
  const done = bench.run(async () => {
    await bench.operator.query('DELETE FROM cronlatch_run');
    await inRunTransaction((manager) => bench.effect(manager));
  });
  await assert.rejects(done, /its row is gone/);
  assert.deepEqual(await bench.effects(), []);
});

testTransactions('a result that is no JSON is told, and not kept', async (bench) => {
  await bench.run(() => inRunTransaction(() => 1n));
  const { state, result } = await bench.row();
  assert.deepEqual([state, result], ['completed', undefined]);
  assert.match(bench.told('guard:warning')[0]?.message ?? '', /is no JSON/);
});

testTransactions('a transaction that ended inside the work completes nothing', async (bench, database) => {
  for (const end of ['COMMIT', 'ROLLBACK']) {
    const done = bench.run(() =>
      inRunTransaction(async (manager) => {
        await manager.query(end);
      }),
    );
    await assert.rejects(done, /The transaction was over before the run of job 'close-day'/);
    assert.equal((await bench.row()).state, 'failed');
    // TypeORM's one query runner for SQLite never learns that its transaction is over.
    if (database === 'sqlite') return;
  }
  await bench.run(() => inRunTransaction((manager) => bench.effect(manager)));
  assert.deepEqual(await bench.effects(), [3]);
});

testTransactions('a savepoint that the work leaves open is no commit', async (bench) => {
  for (const fails of [false, true]) {
    const done = bench.run(() =>
      inRunTransaction(async (manager) => {
        await bench.effect(manager);
        await manager.queryRunner?.startTransaction();
        if (fails) throw new Error('left open');
      }),
    );
    await assert.rejects(done, /left it open|left open/);
    assert.deepEqual(await bench.effects(), []);
    assert.equal((await bench.row()).state, 'failed');
  }
  await bench.run(() =>
    inRunTransaction(async (manager) => {
      await manager.transaction((inner) => bench.effect(inner));
    }),
  );
  assert.deepEqual(await bench.effects(), [3]);
});
