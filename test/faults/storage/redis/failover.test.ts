import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { RedisLockProvider } from 'cronlatch/redis';
import type { LockStorageError } from 'cronlatch';
import type { Ensemble, OwnServer } from '../../../support/servers/own';
import { testOnEnsemble } from '../../../support/servers/test-on';

const TERMS = { lockAtMostFor: '1m' } as const;

testOnEnsemble(
  'sentinel',
  'a failover loses only locks that no replica has, and wait grants none of these',
  async (ensemble, t) => {
    const client = through(ensemble);
    const own = client.duplicate();
    for (const each of [client, own]) each.on('error', () => {}); // The killed primary.
    const plain = new RedisLockProvider({ id: 'main', client, keyPrefix: 'failover:' });
    const careful = new RedisLockProvider({
      ...{ id: 'main', client, keyPrefix: 'failover:' },
      wait: { client: own, replicas: 1, timeout: '1s' },
    });
    t.after(async () => {
      await Promise.all([plain.close(), careful.close()]);
      client.disconnect();
    });
    const primary = await ensemble.leader();
    const replicas = ensemble.members.filter(({ url }) => url !== primary.url);

    const replicated = await plain.lock({ name: 'replicated', ...TERMS });
    const confirmed = await careful.lock({ name: 'confirmed', ...TERMS });
    assert.ok(replicated && confirmed);
    assert.equal(await client.wait(replicas.length, 10_000), replicas.length);
    await cutOff(replicas, primary);
    const alone = await plain.lock({ name: 'alone', ...TERMS });
    assert.ok(alone, 'the primary grants locks that no replica gets');
    await assert.rejects(careful.lock({ name: 'refused', ...TERMS }), isGivenBack);
    await primary.kill();
    for (const { pid } of replicas) process.kill(pid ?? 0, 'SIGCONT');

    assert.notEqual((await ensemble.leader()).url, primary.url);
    await connectedToLeader(client, ensemble);
    for (const name of ['replicated', 'confirmed'])
      assert.equal(await plain.lock({ name, ...TERMS }), undefined);
    assert.equal(await confirmed.extend('1m'), true);
    const second = await plain.lock({ name: 'alone', ...TERMS });
    assert.ok((second?.fencingToken ?? 0) > (alone.fencingToken ?? 0), 'the lost lock has a second holder');
    assert.equal(await alone.extend('1m'), false);
    assert.equal(alone.signal.aborted, true);
    assert.ok(await plain.lock({ name: 'refused', ...TERMS }));
  },
);

function through({ urls }: Ensemble): Redis {
  const sentinels = urls.map((url) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) }));
  return new Redis({ name: 'main', sentinels, retryStrategy: () => 100 });
}

/** What the primary writes from now on reaches none of them: they cannot connect again. */
async function cutOff(replicas: readonly OwnServer[], primary: OwnServer): Promise<void> {
  for (const { pid } of replicas) process.kill(pid ?? 0, 'SIGSTOP');
  const operator = new Redis(primary.url);
  await operator.call('CLIENT', 'KILL', 'TYPE', 'replica');
  operator.disconnect();
}

async function connectedToLeader(client: Redis, ensemble: Ensemble): Promise<void> {
  const { port } = new URL((await ensemble.leader()).url);
  // Until the client has noticed it, commands fail.
  for (;;) {
    const info = await client.info('server').catch(() => '');
    if (info.includes(`tcp_port:${port}\r`)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function isGivenBack(error: unknown): boolean {
  return (error as LockStorageError).outcome === 'nothing-ran';
}
