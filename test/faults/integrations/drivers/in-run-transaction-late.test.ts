/** A holder whose lease expired inside its transaction. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { ClaimLostError, currentRun, FatalJobError } from 'cronlatch';
import { testDriverTransactions } from '../../../support/benches/driver-transactions';
import { reasonOf } from '../../../support/benches/guard';
import { eventually } from '../../../support/clocks/eventually';
import { number, WORDS } from '../../../support/databases/session-words';

for (const moment of ['before its first write', 'after its effects', 'before COMMIT'] as const) {
  testDriverTransactions(
    `through the driver, the server ends a transaction that idles ${moment} for longer than the lease, and another instance executes the run (L-20)`,
    async ({ kind, database, open }) => {
      const bench = await open();
      const other = await open();
      const lease = { lockAtMostFor: '2s' } as const;
      const idle = async (id: number): Promise<void> => {
        await eventually(async () => {
          const again = other.run(
            () => other.application.inRunTransaction((connection) => other.effect(connection)),
            lease,
          );
          return (await again.catch(() => ({ executed: false }))).executed; // The row may still be locked.
        }, 'the other instance runs');
        const isGone = async (): Promise<boolean> =>
          !(await database.ask(WORDS[kind].sessions)).some(({ value }) => Number(value) === id);
        await eventually(isGone, 'the server has ended the connection');
      };
      const thrown = await reasonOf(
        bench.run(
          () =>
            bench.application.inRunTransaction(async (connection) => {
              const id = await number(connection, WORDS[kind].id);
              if (moment === 'before its first write') await idle(id);
              await bench.effect(connection);
              if (moment === 'after its effects') await idle(id);
              if (moment === 'before COMMIT') connection.beforeCommit(() => idle(id));
            }),
          lease,
        ),
      );
      assert.ok(thrown instanceof ClaimLostError, String(thrown));
      assert.match(thrown.message, /its row is completed, generation 0, attempt 2/);
      assert.ok(thrown.cause instanceof Error, 'how the connection ended');
      await eventually(() => bench.application.size() === 0, 'the pool has dropped the connection');
      assert.deepEqual(await bench.effects(), [2]);
      assert.equal((await bench.row()).state, 'completed');
      await bench.run(() => bench.application.inRunTransaction((connection) => bench.effect(connection)), {
        name: 'next',
      });
      assert.deepEqual(await bench.effects(), [1, 2], 'the pool works');
    },
  );
}

testDriverTransactions(
  "through the driver, an error of late work stays the job's own, regardless of its lease",
  async ({ open }) => {
    const bench = await open();
    const error = new FatalJobError('no bank any more');
    const late = bench.run(
      () =>
        bench.application.inRunTransaction(async (connection) => {
          await bench.effect(connection);
          const { signal } = currentRun();
          if (!signal.aborted) await once(signal, 'abort');
          throw error;
        }),
      { lockAtMostFor: '1s' },
    );
    assert.equal(await reasonOf(late), error);
    assert.deepEqual(await bench.effects(), []);
  },
);

testDriverTransactions(
  'through the driver, a transaction that idles for longer than its first lease fails, and the error names the limit',
  async ({ kind, database, open }) => {
    const bench = await open();
    const thrown = await reasonOf(
      bench.run(
        () =>
          bench.application.inRunTransaction(async (connection) => {
            const id = await number(connection, WORDS[kind].id);
            const isGone = async (): Promise<boolean> =>
              !(await database.ask(WORDS[kind].sessions)).some(({ value }) => Number(value) === id);
            await eventually(isGone, 'the server has ended the connection');
            assert.equal(currentRun().signal.aborted, false, 'the lease is renewed');
            await bench.effect(connection);
          }),
        { lockAtMostFor: '3s', keepAlive: true },
      ),
    );
    assert.ok(thrown instanceof ClaimLostError, String(thrown));
    assert.match(
      thrown.message,
      /^Lost attempt 1 of the run of job 'close-day' for today: the connection of its transaction ended.*idle for longer than \d+ ms, .* also with keepAlive/,
    );
    assert.ok(thrown.cause instanceof Error, 'the error of the driver');
    const { state, nextAttemptAt } = await bench.row();
    assert.equal(state, 'failed');
    assert.ok(nextAttemptAt, 'it is retried');
    assert.deepEqual(await bench.effects(), []);
  },
);
