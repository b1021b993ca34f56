import assert from 'node:assert/strict';
import { inRunTransaction } from 'cronlatch/typeorm';
import { closing } from '../../../support/benches/closing';
import { testServerTransactions } from '../../../support/benches/transaction';
import { eventually } from '../../../support/clocks/eventually';
import { Stranger } from '../../../support/databases/stranger';
import { MISHAPS } from '../../../support/faults/commit-mishaps';
import { targetOf, tcpProxy, throughProxy } from '../../../support/faults/tcp-proxy';

for (const { name, before, after, isCommitted } of MISHAPS) {
  testServerTransactions(`${name}: it is ${isCommitted ? '' : 'not '}completed (L-19)`, async (server) => {
    const { kind, database, open } = server;
    await using proxy = closing(await tcpProxy(targetOf(database.url)));
    const url = throughProxy(database.url, proxy);
    const bench = await open({ application: { url, poolSize: 1 }, guard: { statementTimeout: '1s' } });
    const stranger = new Stranger(kind, database);
    const others = 1; // The operator's own session.
    const sessionsEnded = (): Promise<void> =>
      eventually(async () => (await stranger.countSessions()) === others, 'its sessions have ended');
    const scene = { proxy, bench, sessionsEnded };
    let afterwards: Promise<void> | undefined;
    bench.application.subscribers.push({
      async beforeTransactionCommit() {
        bench.application.subscribers.length = 0;
        await before(scene);
        afterwards = after?.(scene);
      },
    });
    const handler = (): Promise<void> => inRunTransaction((manager) => bench.effect(manager));
    const first = bench.run(handler);
    if (isCommitted) await first;
    else await assert.rejects(first);
    await afterwards;
    assert.equal((await bench.row()).state, isCommitted ? 'completed' : 'failed');
    assert.deepEqual(await bench.effects(), isCommitted ? [1] : []);
    await bench.run(handler);
    assert.deepEqual(await bench.effects(), [isCommitted ? 1 : 2], 'once, with any further call');
  });
}
