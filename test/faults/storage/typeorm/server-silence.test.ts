import assert from 'node:assert/strict';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { testOnServers } from '../../../support/benches/server';
import { eventually } from '../../../support/clocks/eventually';
import type { TcpProxy } from '../../../support/faults/tcp-proxy';

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
