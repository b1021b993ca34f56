/** The beginning of a transaction that the server does not answer. */
import assert from 'node:assert/strict';
import { closing } from '../../../support/benches/closing';
import { testDriverTransactions, testServerTransactions } from '../../../support/benches/transaction';
import { eventually } from '../../../support/clocks/eventually';
import { targetOf, tcpProxy, throughProxy } from '../../../support/faults/tcp-proxy';

const UNANSWERED = /^Error: The database did not answer within 1000 ms\.$/;
const GUARD = { statementTimeout: '1s' } as const;

/** A run that cannot connect at first. Others have the connections that are open. */
type Unconnected = Parameters<typeof testServerTransactions>[1];
const unconnected =
  (source: 'pool' | 'address'): Unconnected =>
  async ({ database, open }) => {
    await using proxy = closing(await tcpProxy(targetOf(database.url)));
    const bench = await open({ url: throughProxy(database.url, proxy), source, guard: GUARD });
    const { release } = await bench.application.borrow();
    await bench.run(async () => {
      proxy.stallNewAfter(0);
      await assert.rejects(bench.bookNothing(), UNANSWERED);
      proxy.flow();
      await bench.book();
    });
    release();
    assert.deepEqual(await bench.effects(), [1]);
    proxy.cut();
    await eventually(() => bench.application.size() === 0, 'the pool has dropped its connections');
  };

testServerTransactions(
  'a new connection of a pool that the server does not answer has the time limit of a statement',
  unconnected('pool'),
);

testDriverTransactions(
  'a new connection of the guard that the server does not answer has the time limit of a statement',
  unconnected('address'),
);

testServerTransactions(
  'each packet that begins a transaction has the time limit of a statement',
  async ({ database, open }) => {
    await using proxy = closing(await tcpProxy(targetOf(database.url)));
    const bench = await open({ url: throughProxy(database.url, proxy), poolSize: 1, guard: GUARD });
    (await bench.application.borrow()).release();
    await bench.run(async () => {
      proxy.deafen();
      await assert.rejects(bench.bookNothing(), UNANSWERED);
      await bench.book();
    });
    assert.deepEqual(await bench.effects(), [1]);
  },
);

testServerTransactions(
  'behind others in a full pool, a transaction waits for longer than a statement',
  async ({ kind, open }) => {
    const bench = await open({ poolSize: 1, guard: GUARD });
    const { connection, release } = await bench.application.borrow();
    await bench.run(async () => {
      const done = bench.book();
      await connection.query(kind === 'postgres' ? 'SELECT pg_sleep(2)' : 'SELECT SLEEP(2)');
      release();
      await done;
    });
    assert.deepEqual(await bench.effects(), [1]);
  },
);
