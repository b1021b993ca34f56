/** A holder whose lease expired inside its transaction. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { ClaimLostError, currentRun, FatalJobError } from 'cronlatch';
import { reasonOf } from '../../../support/benches/guard';
import { testServerTransactions, testTransactions } from '../../../support/benches/transaction';
import { eventually } from '../../../support/clocks/eventually';
import type { AskedDatabase } from '../../../support/databases/asked';
import { SERVER_NAMES, type ServerName } from '../../../support/databases/fresh';
import { number, WORDS } from '../../../support/databases/session-words';

async function leaseEnds(): Promise<void> {
  const { signal } = currentRun();
  if (!signal.aborted) await once(signal, 'abort');
}

/** Waits until the server has ended a session. */
async function sessionEnds(kind: ServerName, { ask }: AskedDatabase, id: number): Promise<void> {
  const isGone = async (): Promise<boolean> =>
    !(await ask(WORDS[kind].sessions)).some(({ value }) => Number(value) === id);
  await eventually(isGone, 'the server has ended the connection');
}

testServerTransactions(
  'an expired lease changes nothing unless another instance takes over, and leaves the transaction a second (L-24)',
  async ({ kind, open }) => {
    const bench = await open();
    await bench.run(
      async () => {
        await leaseEnds();
        await bench.book(async (transaction) =>
          assert.equal(await number(transaction, WORDS[kind].limitMs), 1000),
        );
      },
      { lockAtMostFor: '1s' },
    );
    await bench.is('completed', [1]);
  },
);

for (const moment of ['before its first write', 'after its effects', 'before COMMIT'] as const) {
  testServerTransactions(
    `the server ends a transaction that idles ${moment} for longer than the lease, and another instance executes the run (L-20)`,
    async ({ kind, database, open }) => {
      const bench = await open();
      const other = await open();
      const lease = { lockAtMostFor: '2s' } as const;
      const idle = async (id: number): Promise<void> => {
        await eventually(async () => {
          const again = other.run(() => other.book(), lease);
          return (await again.catch(() => ({ executed: false }))).executed; // The row may still be locked.
        }, 'the other instance runs');
        await sessionEnds(kind, database, id);
      };
      const late = (): Promise<void> =>
        bench.application.inRunTransaction(async (transaction) => {
          const id = await number(transaction, WORDS[kind].id);
          if (moment === 'before its first write') await idle(id);
          await bench.effect(transaction);
          if (moment === 'after its effects') await idle(id);
          if (moment === 'before COMMIT') transaction.beforeCommit(() => idle(id));
        });
      const thrown = await reasonOf(bench.run(late, lease));
      assert.ok(thrown instanceof ClaimLostError, String(thrown));
      assert.match(thrown.message, /its row is completed, generation 0, attempt 2/);
      assert.ok(thrown.cause instanceof Error, 'how the connection ended');
      await eventually(() => bench.application.size() === 0, 'the pool has dropped the connection');
      await bench.is('completed', [2]);
      await bench.tick(undefined, { name: 'next' });
      assert.deepEqual(await bench.effects(), [1, 2], 'the pool works');
    },
  );
}

for (const keepAlive of [false, true])
  testServerTransactions(
    `a transaction that idles for longer than its first lease is a lost claim${keepAlive ? ', also with keepAlive' : ''}, and the error names the limit`,
    async ({ kind, database, open }) => {
      const bench = await open();
      const idle = (): Promise<void> =>
        bench.application.inRunTransaction(async (transaction) => {
          await sessionEnds(kind, database, await number(transaction, WORDS[kind].id));
          assert.equal(currentRun().signal.aborted, !keepAlive, 'whether the lease has expired');
          await bench.effect(transaction);
        });
      const thrown = await reasonOf(bench.run(idle, { lockAtMostFor: keepAlive ? '3s' : '1s', keepAlive }));
      assert.ok(thrown instanceof ClaimLostError, String(thrown));
      assert.match(
        thrown.message,
        /^Lost attempt 1 of the run of job 'close-day' for today: the connection of its transaction ended.*idle for longer than \d+ ms, .* also with keepAlive/,
      );
      assert.ok(thrown.cause instanceof Error, 'the error of the driver');
      await bench.is('failed', []);
      assert.ok((await bench.row()).nextAttemptAt, 'it is retried');
    },
  );

testTransactions(
  "an error of late work stays the job's own, regardless of its lease",
  async (bench) => {
    const error = new FatalJobError('no bank any more');
    const late = (): Promise<never> => leaseEnds().then(() => Promise.reject(error));
    assert.equal(await reasonOf(bench.tick(late, { lockAtMostFor: '1s' })), error);
    assert.deepEqual(await bench.effects(), []);
  },
  { on: SERVER_NAMES },
);
