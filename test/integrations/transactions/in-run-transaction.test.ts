// More of this subject: support/transaction-contract/completing.ts, integrations/typeorm, integrations/drivers, adapters, faults/integrations/transactions, faults/processes/transactional-chaos.test.ts, docs/query-builders.test.ts
import assert from 'node:assert/strict';
import { ClaimLostError, currentRun, InvalidLockUseError, RunAlreadyCompletedError } from 'cronlatch';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import { reasonOf } from '../../support/benches/guard';
import { testTransactions } from '../../support/benches/transaction';
import { SERVER_NAMES } from '../../support/databases/fresh';

const noBank = (): never => {
  throw new Error('no bank today');
};

testTransactions(
  'the effects, the completion and the returned value of the work are committed together',
  async (bench) => {
    const value = { lines: 3, note: `it's a "day" \\ 𝄞` };
    const result = await bench.run(async () => {
      assert.deepEqual(await bench.book(() => value), value);
      await bench.is('completed', [1]);
      return 'the handler returns something else';
    });
    assert.deepEqual(result, { executed: true, value: 'the handler returns something else' });
    const { attempt, result: kept } = await bench.row();
    assert.deepEqual([attempt, JSON.parse(kept ?? 'null')], [1, value]);
    assert.deepEqual(await bench.history(), []);
    assert.deepEqual(await bench.run(assert.fail), { executed: false, reason: 'already-completed' });
    assert.equal(bench.eventsOf('run:completed').length, 1);
    assert.deepEqual(bench.eventsOf('guard:warning'), []);
  },
);

testTransactions(
  'effects are invisible to others before the commit',
  async (bench) => {
    await bench.tick(async () => assert.deepEqual(await bench.effects(), []));
    await bench.is('completed', [1]);
  },
  { awaits: true },
);

testTransactions(
  'work that throws leaves nothing behind, fails the attempt, and the next attempt does it once',
  async (bench) => {
    await assert.rejects(bench.tick(noBank), /^Error: no bank today$/);
    await bench.is('failed', []);
    await bench.tick();
    await bench.is('completed', [2]);
    assert.deepEqual(await bench.history(), ['failed']);
  },
  { poolSize: 1 },
);

testTransactions('a failed transaction may be retried inside the handler', async (bench) => {
  await bench.run(async () => {
    await assert.rejects(bench.book(noBank), /no bank today/);
    assert.deepEqual(await bench.effects(), []);
    await bench.book();
  });
  await bench.is('completed', [1]);
});

testTransactions(
  'after the commit, the run accepts no second completion, and cannot be given back',
  async (bench) => {
    await bench.run(async () => {
      await bench.book();
      await assert.rejects(bench.bookNothing(), RunAlreadyCompletedError);
      assert.throws(() => currentRun().giveBack(), RunAlreadyCompletedError);
      assert.throws(() => currentRun().skip('no day'), RunAlreadyCompletedError);
    });
    await bench.is('completed', [1]);
  },
);

testTransactions(
  'a second transaction at the same time is rejected',
  async (bench) => {
    await bench.tick(() => assert.rejects(bench.bookNothing(), RunAlreadyCompletedError));
    await bench.is('completed', [1]);
  },
  { awaits: true },
);

testTransactions(
  'another job can run its transaction inside that of the first',
  async (bench) => {
    await bench.tick(() => bench.tick(undefined, { name: 'inner' }));
    await bench.is('completed', [1, 1]);
    assert.equal((await bench.row('inner')).state, 'completed');
  },
  { on: SERVER_NAMES, poolSize: 2 },
);

testTransactions('outside a run it is rejected', async (bench) => {
  const message = /inRunTransaction\(\) was called outside the run/;
  await assert.rejects(bench.bookNothing(), (error) => {
    assert.ok(error instanceof InvalidLockUseError);
    assert.match(error.message, message);
    return true;
  });
});

testTransactions(
  'inRunTransaction of another subpath is rejected, and the error names both',
  async (bench) => {
    const own = bench.application.subpath;
    const [other, { inRunTransaction }] =
      own === 'cronlatch/pg'
        ? (['cronlatch/mysql2', mysqlDriver] as const)
        : (['cronlatch/pg', pgDriver] as const);
    await bench.run(async () => {
      const elsewhere = await reasonOf(inRunTransaction(() => assert.fail()));
      assert.ok(elsewhere instanceof InvalidLockUseError);
      assert.equal(
        elsewhere.message,
        `inRunTransaction() needs a run whose guard was created with createJobGuard() of ${other}, not of ${own}.`,
      );
    });
  },
);

testTransactions('a run that its handler has given back is not completed', async (bench) => {
  await bench.run(async () => {
    currentRun().giveBack();
    await assert.rejects(bench.bookNothing(), InvalidLockUseError);
  });
  const { state, attempt } = await bench.row();
  assert.deepEqual([state, attempt], ['pending', 0]);
});

testTransactions('an error after the commit is reported, and leaves the run completed', async (bench) => {
  const error = new Error('no mail today');
  const thrown = await reasonOf(bench.run(() => bench.book().then(() => Promise.reject(error))));
  assert.equal(thrown, error);
  assert.equal(bench.eventsOf('run:failed')[0]?.error, error);
  await bench.is('completed', [1]);
  assert.deepEqual(await bench.history(), []);
  assert.deepEqual(await bench.run(assert.fail), { executed: false, reason: 'already-completed' });
});

testTransactions('a holder whose run was taken over leaves no effects', async (bench) => {
  const thrown = await reasonOf(bench.run(() => bench.seize().then(() => bench.book())));
  assert.ok(thrown instanceof ClaimLostError, String(thrown));
  assert.match(thrown.message, /'close-day' for today .* its row is running, generation 0, attempt 2/);
  await bench.is('running', []);
});

testTransactions('a run that is completed already does not run again', async (bench) => {
  const done = bench.run(() => bench.write(`state = 'completed'`).then(() => bench.book()));
  await assert.rejects(done, RunAlreadyCompletedError);
  await bench.is('completed', []);
});

testTransactions('if the row was deleted, the run cannot be completed', async (bench) => {
  const done = bench.run(() => bench.database.ask('DELETE FROM cronlatch_run').then(() => bench.book()));
  await assert.rejects(done, /has no such run.* check what deleted the row/);
  assert.deepEqual(await bench.effects(), []);
});

testTransactions('a result that cannot be JSON is reported, and not stored', async (bench) => {
  await bench.tick(() => 1n);
  await bench.is('completed', [1]);
  assert.equal((await bench.row()).result, undefined);
  assert.match(bench.eventsOf('guard:warning')[0]?.message ?? '', /cannot be serialized as JSON/);
});

testTransactions(
  'on the one connection of a file, it waits for another transaction within a limit, and the error suggests completeRunIn',
  async (bench) => {
    const { transaction } = bench.application;
    await bench.run(() =>
      transaction(async ({ complete }) => {
        const refused = await reasonOf(bench.bookNothing());
        assert.ok(refused instanceof InvalidLockUseError);
        const message = /was in another transaction for 200 ms\. .*completeRunIn\((manager|database)\)\.$/;
        assert.match(refused.message, message);
        await complete();
      }),
    );
    await bench.is('completed', []);
  },
  { on: ['sqlite'], guard: { statementTimeout: '200ms' } },
);
