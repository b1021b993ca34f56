import assert from 'node:assert/strict';
import { closing } from '../../../support/benches/closing';
import { testServerTransactions } from '../../../support/benches/transaction';
import { eventually } from '../../../support/clocks/eventually';
import { Stranger } from '../../../support/databases/stranger';
import { MISHAPS } from '../../../support/faults/commit-mishaps';
import { targetOf, tcpProxy, throughProxy } from '../../../support/faults/tcp-proxy';

for (const { name, before, after, isCommitted } of MISHAPS) {
  testServerTransactions(
    `${name}: it is ${isCommitted ? '' : 'not '}completed, and the pool drops the connection (L-19)`,
    async ({ kind, database, open }) => {
      await using proxy = closing(await tcpProxy(targetOf(database.url)));
      const url = throughProxy(database.url, proxy);
      const bench = await open({ url, poolSize: 1, guard: { statementTimeout: '3s' } });
      const stranger = new Stranger(kind, database);
      const sessionsEnded = (): Promise<void> =>
        eventually(async () => (await stranger.countSessions()) === 0, 'its sessions have ended');
      let afterwards: Promise<void> | undefined;
      const first = bench.tick((transaction) =>
        transaction.beforeCommit(async () => {
          const scene = { proxy, bench, sessionsEnded };
          await before(scene);
          afterwards = after?.(scene);
        }),
      );
      const startedAtMs = performance.now();
      if (isCommitted) await first;
      else await assert.rejects(first);
      const tookMs = performance.now() - startedAtMs;
      // A third limit would end after 9 s. A busy machine has the rest.
      assert.ok(tookMs < 8900, `one time limit for COMMIT, and one to read the row: ${tookMs} ms`);
      await afterwards;
      await eventually(() => bench.application.size() === 0, 'the pool has dropped the connection');
      await bench.is(isCommitted ? 'completed' : 'failed', isCommitted ? [1] : []);
      await bench.tick();
      assert.deepEqual(await bench.effects(), [isCommitted ? 1 : 2], 'once, with any further call');
    },
  );
}
