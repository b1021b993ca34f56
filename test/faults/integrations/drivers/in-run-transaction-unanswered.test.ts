/** The beginning of a transaction that the server does not answer. */
import assert from 'node:assert/strict';
import { closing } from '../../../support/benches/closing';
import { testDriverTransactions } from '../../../support/benches/driver-transactions';
import { eventually } from '../../../support/clocks/eventually';
import { targetOf, tcpProxy, throughProxy } from '../../../support/faults/tcp-proxy';

const UNANSWERED = /^Error: The database did not answer within 1000 ms\.$/;

for (const source of ['pool', 'address'] as const)
  testDriverTransactions(
    `a new connection of ${source === 'pool' ? 'a pool' : 'the guard'} that the server does not answer has the time limit of a statement`,
    async ({ database, open }) => {
      await using proxy = closing(await tcpProxy(targetOf(database.url)));
      const url = throughProxy(database.url, proxy);
      const bench = await open({ url, source, guard: { statementTimeout: '1s' } });
      await bench.run(async () => {
        proxy.stallNewAfter(0);
        await assert.rejects(
          bench.application.inRunTransaction(() => assert.fail()),
          UNANSWERED,
        );
        proxy.flow();
        await bench.application.inRunTransaction((connection) => bench.effect(connection));
      });
      assert.deepEqual(await bench.effects(), [1]);
      proxy.cut();
      await eventually(() => bench.application.size() === 0, 'the pool has dropped its connections');
    },
  );

testDriverTransactions(
  'each packet that begins a transaction has the time limit of a statement',
  async ({ database, open }) => {
    await using proxy = closing(await tcpProxy(targetOf(database.url)));
    const url = throughProxy(database.url, proxy);
    const bench = await open({ url, poolSize: 1, guard: { statementTimeout: '1s' } });
    const { release } = await bench.application.borrow();
    release();
    await bench.run(async () => {
      proxy.deafen();
      await assert.rejects(
        bench.application.inRunTransaction(() => assert.fail()),
        UNANSWERED,
      );
      await bench.application.inRunTransaction((connection) => bench.effect(connection));
    });
    assert.deepEqual(await bench.effects(), [1]);
  },
);

testDriverTransactions(
  'behind others in a full pool, a transaction waits for longer than a statement',
  async ({ kind, open }) => {
    const bench = await open({ poolSize: 1, guard: { statementTimeout: '1s' } });
    const { connection, release } = await bench.application.borrow();
    await bench.run(async () => {
      const done = bench.application.inRunTransaction((own) => bench.effect(own));
      await connection.query(kind === 'postgres' ? 'SELECT pg_sleep(2)' : 'SELECT SLEEP(2)');
      release();
      await done;
    });
    assert.deepEqual(await bench.effects(), [1]);
  },
);
