import assert from 'node:assert/strict';
import { Child } from '../../processes/child';
import type { RowLockHolderMessage } from '../../processes/fixtures/row-lock-holder';
import { JOB, testRowLocks, type RowLocks } from '../../support/benches/row-locks';

type Holder = Child<RowLockHolderMessage>;

async function withHolder(
  { database }: RowLocks,
  body: (holder: Holder, token: number) => Promise<void>,
): Promise<void> {
  const argument = { options: database.options, name: JOB.name };
  const holder: Holder = new Child('row-lock-holder.js', { argument });
  try {
    const { token } = await holder.received('held');
    await body(holder, token);
  } finally {
    holder.kill('SIGCONT');
    await holder.end();
  }
}

testRowLocks(
  'the lock of a process that was killed is free at once, long before lockAtMostFor',
  async (locks) => {
    await withHolder(locks, async (holder, token) => {
      assert.equal(await locks.provider().lock(JOB), undefined);
      const waiting = locks.provider({ wait: '4s' }).lock(JOB);
      holder.kill('SIGKILL');
      const lock = await waiting;
      assert.ok((lock?.fencingToken ?? 0) > token);
    });
  },
);

testRowLocks(
  'the server frees the lock of a stopped process, which knows it when it goes on',
  async (locks) => {
    await withHolder(locks, async (holder, token) => {
      holder.kill('SIGSTOP');
      // Five seconds after its last ping.
      const lock = await locks.provider({ wait: '12s' }).lock(JOB);
      assert.ok((lock?.fencingToken ?? 0) > token);
      holder.kill('SIGCONT');
      const { reason } = await holder.received('lost');
      assert.match(reason, /was lost while its job was running/);
      holder.send({});
      assert.equal((await holder.received('released')).stillOurs, false);
      assert.equal(await locks.provider().lock(JOB), undefined);
      assert.equal(await lock?.unlock(), true);
    });
  },
);
