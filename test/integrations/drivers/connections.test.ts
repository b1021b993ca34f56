/** How many connections a guard opens, and that none of them is left. */
import assert from 'node:assert/strict';
import { testDriverTransactions } from '../../support/benches/transaction';
import { eventually } from '../../support/clocks/eventually';
import { Stranger } from '../../support/databases/stranger';
import { startScript } from '../../support/processes/child-script';
import { join } from 'node:path';

const ON = ['mysql', 'postgres'] as const;

testDriverTransactions(
  'a guard from an address opens two connections, and for transactions at most transactionConnections more',
  async ({ kind, database, open }) => {
    const bench = await open({ source: 'address', guard: { transactionConnections: 2 } });
    const stranger = new Stranger(kind, database);
    await bench.run(() => {}, { name: 'first' });
    const ofGuard = await stranger.countSessions();
    assert.ok(ofGuard >= 1 && ofGuard <= 2, `${ofGuard}`);
    let waiting = 0;
    let most = 0;
    let fill = (): void => {};
    const full = new Promise<void>((resolve) => (fill = resolve));
    const names = ['a', 'b', 'c', 'd'];
    await Promise.all(
      names.map((name) =>
        bench.run(
          () =>
            bench.application.inRunTransaction(async (connection) => {
              waiting += 1;
              most = Math.max(most, waiting);
              if (waiting === 2) fill();
              await full;
              assert.ok((await stranger.countSessions()) <= 4);
              await bench.effect(connection);
              waiting -= 1;
            }),
          { name },
        ),
      ),
    );
    assert.equal(most, 2);
    assert.equal((await bench.effects()).length, 4);
    await bench.guard.close();
    await eventually(async () => (await stranger.countSessions()) === 0, 'all sessions have ended');
  },
  ON,
);

testDriverTransactions(
  'a guard with connections: 4 uses three at once, and one more for leases',
  async ({ kind, database, open }) => {
    const bench = await open({ source: 'address', guard: { connections: 4, grouping: false } });
    const stranger = new Stranger(kind, database);
    const names = Array.from({ length: 12 }, (_, number) => `job-${number}`);
    await Promise.all(names.map((name) => bench.run(() => {}, { name })));
    // Those that were borrowed while the machine was slow are closed after use.
    await eventually(async () => {
      const sessions = await stranger.countSessions();
      return sessions === 3 || sessions === 4;
    }, 'three or four connections stay open');
    await bench.guard.close();
  },
  ON,
);

testDriverTransactions(
  'a guard from a pool closes its own connections, and leaves the pool open',
  async ({ kind, database, open }) => {
    const bench = await open({ poolSize: 1 });
    const stranger = new Stranger(kind, database);
    await bench.run(() => bench.book());
    await bench.guard.close();
    await eventually(async () => (await stranger.countSessions()) === 1, 'only that of the pool is left');
    const { connection, release } = await bench.application.borrow();
    assert.equal((await connection.query('SELECT 1 AS one')).length, 1);
    release();
  },
  ON,
);

testDriverTransactions(
  'a process can exit after its guard from an address is closed',
  async ({ kind, database, open }) => {
    await open();
    const driver = kind === 'postgres' ? 'pg' : 'mysql2';
    const script = startScript(join(__dirname, 'fixtures', 'closes-guard.js'), driver, database.url);
    await script.line('closed');
    assert.deepEqual(await script.ended, { code: 0, signal: null });
  },
  ON,
);

testDriverTransactions(
  'a run that outlives its guard cannot open a connection any more',
  async ({ kind, database, open }) => {
    const bench = await open({ source: 'address' });
    const stranger = new Stranger(kind, database);
    let goOn = (): void => {};
    const closed = new Promise<void>((resolve) => (goOn = resolve));
    let run: Promise<unknown> = Promise.resolve();
    await new Promise<void>((started) => {
      run = bench.run(async () => {
        started();
        await closed;
        await bench.book();
      });
    });
    await bench.guard.close({ timeout: 0 });
    goOn();
    await assert.rejects(run, /pool/i);
    assert.deepEqual(await bench.effects(), []);
    await eventually(async () => (await stranger.countSessions()) === 0, 'all sessions have ended');
  },
  ON,
);
