import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { testOnServers } from '../../../support/benches/server';
import { eventually } from '../../../support/clocks/eventually';
import type { TcpProxy } from '../../../support/faults/tcp-proxy';
import { lockRows } from '../../../support/databases/lock-table';
import { sampleSize } from '../../../support/checks/sample-size';
import { LockLoad } from '../../../support/jobs/lock-load';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

/** The number of this process's sockets that lead to the proxy. */
function socketsTo({ port }: TcpProxy): number {
  type Handles = { _getActiveHandles(): { remotePort?: number; destroyed?: boolean }[] };
  const handles = (process as unknown as Handles)._getActiveHandles();
  return handles.filter(({ remotePort, destroyed }) => remotePort === port && !destroyed).length;
}

testOnServers('a statement without a reply fails, and its connection is destroyed (F-40)', async (bench) => {
  const { proxy, provider } = await bench.proxied({ statementTimeout: '1s' });
  await (await provider.lock(JOB))?.unlock();
  proxy.stall();
  await assert.rejects(
    provider.lock(JOB),
    (error) =>
      error instanceof LockStorageError &&
      error.outcome === 'unknown' &&
      /the database did not answer within \d+ ms/.test(error.message),
  );
  proxy.cut(); // The statement never arrives.
  proxy.flow();
  const lock = await provider.lock(JOB);
  assert.equal(await lock?.unlock(), true);
});

for (const pieces of [0, 1, 2, 3]) {
  testOnServers(
    `connections that go silent after ${pieces} packets of their handshake free their place in the pool, and leave no socket (F-40)`,
    async (bench) => {
      const { proxy, provider } = await bench.proxied({ statementTimeout: '200ms' });
      proxy.stallNewAfter(pieces);
      for (let tick = 0; tick < 3; tick += 1) await assert.rejects(provider.lock(JOB), LockStorageError);
      proxy.flow();
      // The last silent handshakes are aborted within their own limit.
      const granted = async (): Promise<boolean> => {
        const lock = await provider.lock(JOB).catch(() => undefined);
        return (await lock?.unlock()) ?? false;
      };
      await eventually(granted, 'a lock is granted');
      await provider.close();
      await eventually(() => socketsTo(proxy) === 0, 'no socket is left');
    },
  );
}

testOnServers(
  'handshakes that never end leave no socket behind when the provider is closed (F-40)',
  async (bench) => {
    const { proxy, provider } = await bench.proxied({ statementTimeout: '200ms' });
    proxy.stallNewAfter(2);
    for (let tick = 0; tick < 3; tick += 1) await assert.rejects(provider.lock(JOB));
    await provider.close();
    await eventually(() => socketsTo(proxy) === 0, 'no socket is left');
  },
);

testOnServers(
  'closing with a server that went silent ends, and leaves no socket behind (F-40)',
  async (bench) => {
    const { proxy, provider } = await bench.proxied({ statementTimeout: '1s' });
    await (await provider.lock(JOB))?.unlock();
    proxy.stall();
    await provider.close();
    await eventually(() => socketsTo(proxy) === 0, 'no socket is left');
  },
);

testOnServers('closing during a handshake that went silent ends without an error', async (bench) => {
  await bench.application.destroy();
  const { proxy, provider } = await bench.proxied({ statementTimeout: '1s' });
  await (await provider.lock(JOB))?.unlock();
  proxy.stallNewAfter(0);
  await bench.stranger.killSessions();
  await eventually(() => socketsTo(proxy) === 0, 'the killed connection is gone');
  const refused = assert.rejects(provider.lock(JOB), LockStorageError);
  await eventually(() => socketsTo(proxy) === 1, 'another one is opened');
  await provider.close();
  await refused;
  await eventually(() => socketsTo(proxy) === 0, 'no socket is left');
});

const IMPATIENT = { statementTimeout: '1s' } as const;

testOnServers(
  'if the reply to a takeover, an extension or a release never arrives, its outcome is found on a fresh connection (F-39)',
  async (bench) => {
    const { proxy, provider } = await bench.proxied(IMPATIENT);
    await (await provider.lock(JOB))?.unlock();
    proxy.deafen();
    const lock = await provider.lock(JOB);
    const [held] = await lockRows(bench.application);
    assert.deepEqual([held?.held, held?.token], [true, lock?.fencingToken]);
    proxy.deafen();
    assert.equal(await lock?.extend('2m'), true);
    assert.ok((lock?.remainingMs() ?? 0) > 60_000);
    proxy.deafen();
    assert.equal(await lock?.unlock(), true);
    const [released] = await lockRows(bench.application);
    assert.match(released?.lockedBy ?? '', /\/released$/);
  },
);

testOnServers('a grant whose connection is cut is found again on a fresh one (F-39)', async (bench) => {
  const { proxy, provider } = await bench.proxied();
  await (await provider.lock(JOB))?.unlock();
  // The statement waits for a row lock; its connection is cut; then it continues and takes effect.
  await bench.stranger.lockRow('job');
  const locking = provider.lock(JOB).catch((error: unknown) => error);
  await eventually(() => bench.stranger.isAnySessionWaiting(), 'the statement waits for the row');
  await proxy.close();
  await bench.stranger.commit();
  await proxy.open();
  const lock = await locking;
  const [row] = await lockRows(bench.application);
  // If the server notices the cut before the statement continues, there is no grant, but an error.
  if (row?.held) assert.equal((lock as { fencingToken: number }).fencingToken, row.token);
  else assert.ok(lock instanceof LockStorageError);
});

testOnServers(
  'an idle connection that the server has killed costs only a new connection (F-50)',
  async (bench) => {
    await bench.application.destroy();
    const provider = bench.provider();
    await (await provider.lock(JOB))?.unlock();
    assert.equal(await bench.stranger.countSessions(), 1);
    await bench.stranger.killSessions();
    assert.equal(await (await provider.lock(JOB))?.unlock(), true);
  },
);

testOnServers('a statement whose connection is killed while it waits is resent (F-50)', async (bench) => {
  await bench.application.destroy();
  const provider = bench.provider();
  await (await provider.lock(JOB))?.unlock();
  await bench.stranger.lockRow('job');
  const locking = provider.lock(JOB);
  await eventually(() => bench.stranger.isAnySessionWaiting(), 'the statement waits for the row');
  await bench.stranger.killSessions();
  await bench.stranger.commit();
  const lock = await locking;
  assert.equal(await lock?.unlock(), true);
});

const BLOWS = sampleSize({ fast: 60, full: 1500 });
const INSTANCES = 4;
const LONGEST_PAUSE_MS = 20;

testOnServers(
  `locks match the results that instances received after ${BLOWS} random kills of a session or its statement (F-50)`,
  async (bench) => {
    await bench.application.destroy();
    const instances = Array.from({ length: INSTANCES }, () => bench.provider({ statementTimeout: '5s' }));
    const load = new LockLoad(instances);
    let blows = 0;
    try {
      while (blows < BLOWS) {
        await load.granted(1);
        await setTimeout(Math.random() * LONGEST_PAUSE_MS);
        const hasHit = await bench.stranger.strikeOne(blows % 2 === 0 ? 'kill' : 'cancel');
        if (hasHit) blows += 1;
      }
    } finally {
      await load.end();
    }
    assert.ok(load.counts.released > 0, JSON.stringify(load.counts));
    load.agreesWith(await lockRows(await bench.connected()));
  },
);
