/** The errors for a holder whose lease expired inside its transaction. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { ClaimLostError, currentRun, FatalJobError } from 'cronlatch';
import { createJobGuard, inRunTransaction } from 'cronlatch/typeorm';
import { reasonOf } from '../../../support/benches/guard';
import { JOB, testServerTransactions, testTransactions } from '../../../support/benches/transaction';
import { eventually } from '../../../support/clocks/eventually';
import { SERVER_NAMES } from '../../../support/databases/fresh';
import { number, numbers, WORDS } from '../../../support/databases/session-words';

testServerTransactions(
  'an expired lease changes nothing unless another instance takes over, and leaves the transaction a second (L-24)',
  async ({ kind, open }) => {
    const bench = await open();
    await bench.run(
      async () => {
        const { signal } = currentRun();
        if (!signal.aborted) await once(signal, 'abort');
        await inRunTransaction(async (manager) => {
          assert.equal(await number(manager, WORDS[kind].limitMs), 1000);
          await bench.effect(manager);
        });
      },
      { lockAtMostFor: '1s' },
    );
    assert.equal((await bench.row()).state, 'completed');
    assert.deepEqual(await bench.effects(), [1]);
  },
);

for (const moment of ['before its first write', 'after its effects', 'before COMMIT'] as const) {
  testServerTransactions(
    `the server ends a transaction that idles ${moment} for longer than the lease, and another instance executes the run (L-20)`,
    async ({ kind, open }) => {
      const bench = await open();
      const other = await createJobGuard(bench.operator, { pollInterval: false, logger: false });
      const job = { ...JOB, lockAtMostFor: '2s' };
      const idle = async (id: number): Promise<void> => {
        await eventually(async () => {
          const again = (): Promise<void> => inRunTransaction((manager) => bench.effect(manager));
          const result = await other.run(job, again).catch(() => undefined); // The row may still be locked.
          return result?.executed ?? false;
        }, 'the other instance runs');
        const isGone = async (): Promise<boolean> =>
          !(await numbers(bench.operator, WORDS[kind].sessions)).includes(id);
        await eventually(isGone, 'the server has ended the connection');
      };
      let id = NaN;
      if (moment === 'before COMMIT') {
        bench.application.subscribers.push({ beforeTransactionCommit: () => idle(id) });
      }
      const thrown = await reasonOf(
        bench.run(
          () =>
            inRunTransaction(async (manager) => {
              id = await number(manager, WORDS[kind].id);
              if (moment === 'before its first write') await idle(id);
              await bench.effect(manager);
              if (moment === 'after its effects') await idle(id);
            }),
          job,
        ),
      );
      assert.ok(thrown instanceof ClaimLostError, String(thrown));
      assert.match(thrown.message, /its row is completed, generation 0, attempt 2/);
      assert.ok(thrown.cause instanceof Error, 'how the connection ended');
      await other.close();
      assert.deepEqual(await bench.effects(), [2]);
      assert.equal((await bench.row()).state, 'completed');
      assert.equal((await bench.application.query<unknown[]>(WORDS[kind].id)).length, 1, 'the pool works');
    },
  );
}

testServerTransactions(
  'a late transaction that the server ended is a lost claim, even if no instance has taken the run over',
  async ({ kind, open }) => {
    const bench = await open();
    const thrown = await reasonOf(
      bench.run(
        () =>
          inRunTransaction(async (manager) => {
            const id = await number(manager, WORDS[kind].id);
            const isGone = async (): Promise<boolean> =>
              !(await numbers(bench.operator, WORDS[kind].sessions)).includes(id);
            await eventually(isGone, 'the server has ended the connection');
            await bench.effect(manager);
          }),
        { lockAtMostFor: '1s' },
      ),
    );
    assert.ok(thrown instanceof ClaimLostError, String(thrown));
    assert.match(
      thrown.message,
      /^Lost attempt 1 of the run of job 'close-day' for today: the connection of its transaction ended/,
    );
    assert.ok(thrown.cause instanceof Error);
    assert.deepEqual(await bench.effects(), []);
    assert.equal((await bench.row()).state, 'failed');
  },
);

testTransactions(
  "an error of late work stays the job's own, regardless of its lease",
  async (bench) => {
    const error = new FatalJobError('no bank any more');
    const late = bench.run(
      () =>
        inRunTransaction(async (manager) => {
          await bench.effect(manager);
          const { signal } = currentRun();
          if (!signal.aborted) await once(signal, 'abort');
          throw error;
        }),
      { lockAtMostFor: '1s' },
    );
    assert.equal(await reasonOf(late), error);
    assert.deepEqual(await bench.effects(), []);
  },
  { on: SERVER_NAMES },
);
