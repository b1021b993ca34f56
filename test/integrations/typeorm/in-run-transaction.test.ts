// More of this subject: integrations/drivers/in-run-transaction.test.ts, adapters, faults/integrations/typeorm, faults/integrations/drivers, faults/processes/transactional-chaos.test.ts, docs/query-builders.test.ts
import assert from 'node:assert/strict';
import { ClaimLostError, currentRun, InvalidLockUseError, RunAlreadyCompletedError } from 'cronlatch';
import { inRunTransaction } from 'cronlatch/typeorm';
import { reasonOf } from '../../support/benches/guard';
import { testTransactions } from '../../support/benches/transaction';

testTransactions(
  'the effects, the completion and the returned value of the work are committed together',
  async (bench) => {
    const value = { lines: 3, note: `it's a "day" \\ 𝄞` };
    const result = await bench.run(async () => {
      assert.deepEqual(
        await inRunTransaction(async (manager) => {
          await bench.effect(manager);
          assert.deepEqual(await bench.effects(), [], 'invisible to others before the commit');
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
    assert.equal(bench.eventsOf('run:completed').length, 1);
    assert.deepEqual(bench.eventsOf('guard:warning'), []);
  },
);

testTransactions(
  'work that throws leaves nothing behind, fails the attempt, and the next attempt does it once',
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

testTransactions('a failed transaction may be retried inside the handler', async (bench) => {
  await bench.run(async () => {
    const failing = inRunTransaction(async (manager) => {
      await bench.effect(manager);
      throw new Error('a deadlock');
    });
    await assert.rejects(failing, /a deadlock/);
    await inRunTransaction((manager) => bench.effect(manager));
  });
  assert.deepEqual(await bench.effects(), [1]);
  assert.equal((await bench.row()).state, 'completed');
});

testTransactions(
  'after the commit, the run accepts no second completion, and cannot be given back',
  async (bench) => {
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
  },
);

testTransactions('a second transaction at the same time is rejected', async (bench) => {
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

testTransactions('an error after the commit is reported, and leaves the run completed', async (bench) => {
  const error = new Error('no mail today');
  const thrown = await reasonOf(
    bench.run(async () => {
      await inRunTransaction((manager) => bench.effect(manager));
      throw error;
    }),
  );
  assert.equal(thrown, error);
  assert.equal(bench.eventsOf('run:failed')[0]?.error, error);
  assert.equal((await bench.row()).state, 'completed');
  assert.deepEqual(await bench.history(), []);
  assert.deepEqual(await bench.run(assert.fail), { executed: false, reason: 'already-completed' });
});

testTransactions('a run that was marked as interrupted is completed late', async (bench) => {
  await bench.run(async () => {
    await bench.write(`state = 'interrupted', reason = 'crashed'`);
    await inRunTransaction((manager) => bench.effect(manager));
  });
  const { state, reason } = await bench.row();
  assert.deepEqual([state, reason], ['completed', undefined]);
  assert.deepEqual(await bench.history(), ['completed-late']);
  assert.deepEqual(await bench.effects(), [1]);
});

testTransactions('a holder whose run was taken over leaves no effects', async (bench) => {
  const thrown = await reasonOf(
    bench.run(async () => {
      await bench.seize();
      await inRunTransaction((manager) => bench.effect(manager));
    }),
  );
  assert.ok(thrown instanceof ClaimLostError);
  assert.match(thrown.message, /'close-day' for today .* its row is running, generation 0, attempt 2/);
  assert.deepEqual(await bench.effects(), []);
  assert.equal((await bench.row()).state, 'running');
});

testTransactions('a run that is completed already does not run again', async (bench) => {
  const done = bench.run(async () => {
    await bench.write(`state = 'completed'`);
    await inRunTransaction((manager) => bench.effect(manager));
  });
  await assert.rejects(done, RunAlreadyCompletedError);
  assert.deepEqual(await bench.effects(), []);
  assert.equal((await bench.row()).state, 'completed');
});

testTransactions('if the row was deleted, the run cannot be completed', async (bench) => {
  const done = bench.run(async () => {
    await bench.operator.query('DELETE FROM cronlatch_run');
    await inRunTransaction((manager) => bench.effect(manager));
  });
  await assert.rejects(done, /has no such run.* check what deleted the row/);
  assert.deepEqual(await bench.effects(), []);
});

testTransactions('a result that cannot be JSON is reported, and not stored', async (bench) => {
  await bench.run(() => inRunTransaction(() => 1n));
  const { state, result } = await bench.row();
  assert.deepEqual([state, result], ['completed', undefined]);
  assert.match(bench.eventsOf('guard:warning')[0]?.message ?? '', /cannot be serialized as JSON/);
});

testTransactions(
  'a transaction that ended inside the work fails the run permanently',
  async (bench, kind) => {
    for (const end of ['COMMIT', 'ROLLBACK']) {
      const name = `ends with ${end}`;
      const attempt = (): Promise<unknown> =>
        bench.run(
          () =>
            inRunTransaction(async (manager) => {
              await manager.query(end);
            }),
          { name },
        );
      await assert.rejects(
        attempt,
        /Cannot complete the run of job 'ends with.*its transaction has already ended/,
      );
      assert.deepEqual(await attempt(), { executed: false, reason: 'exhausted' });
      assert.equal((await bench.guard.ledger.last(name))?.reason, 'fatal');
      // TypeORM's one query runner for SQLite does not notice that its transaction has ended.
      if (kind === 'sqlite') return;
    }
    await bench.run(() => inRunTransaction((manager) => bench.effect(manager)));
    assert.deepEqual(await bench.effects(), [1]);
  },
);

testTransactions('a savepoint that the work leaves open prevents the commit', async (bench) => {
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
