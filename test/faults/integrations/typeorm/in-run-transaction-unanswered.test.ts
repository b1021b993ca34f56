/** The beginning of a transaction that the server does not answer. */
import assert from 'node:assert/strict';
import { inRunTransaction } from 'cronlatch/typeorm';
import { closing } from '../../../support/benches/closing';
import { testServerTransactions } from '../../../support/benches/transaction';
import { eventually } from '../../../support/clocks/eventually';
import { targetOf, tcpProxy, throughProxy } from '../../../support/faults/tcp-proxy';

const UNANSWERED = /^Error: The database did not answer within 1000 ms\.$/;

testServerTransactions(
  'a new connection that the server does not answer has the time limit of a statement',
  async ({ database, open }) => {
    await using proxy = closing(await tcpProxy(targetOf(database.url)));
    const url = throughProxy(database.url, proxy);
    const bench = await open({ application: { url, poolSize: 3 }, guard: { statementTimeout: '1s' } });
    const idle = bench.application.createQueryRunner();
    await idle.connect();
    await bench.run(async () => {
      proxy.stallNewAfter(0);
      await assert.rejects(
        inRunTransaction(() => assert.fail()),
        UNANSWERED,
      );
      proxy.flow();
      await inRunTransaction((manager) => bench.effect(manager));
    });
    await idle.release();
    assert.deepEqual(await bench.effects(), [1]);
    proxy.cut();
    const { master, pool } = bench.application.driver as {
      readonly master?: { readonly totalCount: number };
      readonly pool?: { readonly _allConnections: { readonly length: number } };
    };
    const size = (): number => master?.totalCount ?? pool?._allConnections.length ?? NaN;
    await eventually(() => size() === 0, 'the pool has dropped its connections');
  },
);

testServerTransactions(
  'each packet that begins a transaction has the time limit of a statement',
  async ({ database, open }) => {
    await using proxy = closing(await tcpProxy(targetOf(database.url)));
    const url = throughProxy(database.url, proxy);
    const bench = await open({ application: { url, poolSize: 1 }, guard: { statementTimeout: '1s' } });
    await bench.run(async () => {
      proxy.deafen();
      await assert.rejects(
        inRunTransaction(() => assert.fail()),
        UNANSWERED,
      );
      await inRunTransaction((manager) => bench.effect(manager));
    });
    assert.deepEqual(await bench.effects(), [1]);
  },
);

testServerTransactions(
  'behind others in a full pool, a transaction waits for longer than a statement',
  async ({ kind, open }) => {
    const bench = await open({ application: { poolSize: 1 }, guard: { statementTimeout: '1s' } });
    const first = bench.application.createQueryRunner();
    await first.connect();
    await bench.run(async () => {
      const done = inRunTransaction((manager) => bench.effect(manager));
      await first.query(kind === 'postgres' ? 'SELECT pg_sleep(2)' : 'SELECT SLEEP(2)');
      await first.release();
      await done;
    });
    assert.deepEqual(await bench.effects(), [1]);
  },
);
