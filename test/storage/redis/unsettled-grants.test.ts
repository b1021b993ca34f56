import assert from 'node:assert/strict';
import type { RedisCommandFunction } from 'cronlatch/redis';
import { JOB, testRedis, type RedisBench } from '../../support/benches/redis';

const RULES = { replicas: 1, timeout: '200ms' } as const;

/** Answers WAIT with 0 replicas, or as the test wants. */
function withoutReplicas(
  bench: RedisBench,
  confirm = () => Promise.resolve<unknown>(0),
): RedisCommandFunction {
  return ([name = '', ...args]) => (name === 'WAIT' ? confirm() : bench.send(name, ...args));
}

function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

testRedis('an answer that arrives while its process is blocked is not reported as not run', async (bench) => {
  let isBlocked = false;
  const provider = bench.provider({
    statementTimeout: '1s',
    async client(command) {
      const answer = await bench.send(...command);
      if (isBlocked && command[0] === 'EVALSHA') {
        isBlocked = false;
        blockFor(1100);
      }
      return answer;
    },
  });
  await (await provider.lock(JOB))?.unlock();
  isBlocked = true;
  const lock = await provider.lock(JOB);
  assert.ok(lock);
  isBlocked = true;
  assert.equal(await lock.extend('1h'), true);
  isBlocked = true;
  assert.equal(await lock.unlock(), true);
});

testRedis('a holder whose lost request was granted first trusts no longer than the server', async (bench) => {
  let lost: readonly string[] | undefined;
  let step: 'normal' | 'lose' | 'delay' = 'normal';
  const provider = bench.provider({
    async client(command) {
      if (step === 'lose') {
        lost = command;
        step = 'delay';
        throw new Error('Socket closed unexpectedly');
      }
      const answer = await bench.send(...command);
      if (step === 'delay') {
        step = 'normal';
        await bench.send(...(lost ?? [])); // It arrives after the read that settles it.
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      return answer;
    },
  });
  await (await provider.lock(JOB))?.unlock();
  step = 'lose';
  const lock = await provider.lock(JOB);
  assert.ok(lock);
  const left = Number(await bench.send('PTTL', bench.keyPrefix + JOB.name));
  assert.ok(lock.remainingMs() <= left + 1, `${lock.remainingMs()} of ${left}`);
  assert.ok((await bench.provider().inspect(JOB.name))?.fencingToken === lock.fencingToken);
});

for (const refusal of [
  'NOPERM this user has no permissions to run the wait command',
  'The client is offline',
])
  testRedis(`a grant whose WAIT fails with '${refusal.slice(0, 6)}' is given back`, async (bench) => {
    const client = withoutReplicas(bench, () => Promise.reject(new Error(refusal)));
    const provider = bench.provider({ wait: { ...RULES, client } });
    await assert.rejects(provider.lock(JOB), { outcome: 'nothing-ran', message: /given back: WAIT failed/ });
    assert.ok(await bench.provider().lock(JOB), 'the lock should be free again');
  });

testRedis('an extension whose WAIT fails may have taken effect, and is settled', async (bench) => {
  let failures = 0;
  const client = withoutReplicas(bench, () => {
    failures += 1;
    return failures === 2 ? Promise.reject(new Error('The client is offline')) : Promise.resolve(1);
  });
  const lock = await bench.provider({ wait: { ...RULES, client } }).lock(JOB);
  assert.equal(await lock?.extend('1h'), true);
  assert.equal(await lock?.unlock(), true);
});

testRedis('a grant that may still be given back is not granted', async (bench) => {
  let replicas = 0;
  let isCut = false;
  const provider = bench.provider({
    statementTimeout: '1s',
    wait: { ...RULES, client: withoutReplicas(bench, () => Promise.resolve(replicas)) },
    client(command) {
      if (!isCut || command[0] !== 'EVALSHA') return bench.send(...command);
      replicas = 1; // They have caught up when the read settles the grant.
      return Promise.reject(new Error('Command timed out'));
    },
  });
  await (await bench.provider().lock(JOB))?.unlock();
  await provider.inspect(JOB.name); // Learns the server's time.
  isCut = true;
  await assert.rejects(provider.lock(JOB), { outcome: 'unknown' });
  isCut = false;
  await provider.close(); // Sends the pending release.
  assert.ok(await bench.provider().lock(JOB));
});

testRedis('a connection to another server with the same id confirms nothing', async (bench) => {
  const connection: { id: string; name?: string } = { id: '7' };
  const provider = bench.provider({
    wait: {
      ...RULES,
      client([command = '', part = '', ...args]) {
        if (command === 'EVALSHA') delete connection.name; // A failover, before WAIT.
        if (command === 'WAIT') return Promise.resolve(1);
        if (command !== 'CLIENT') return bench.send(command, part, ...args);
        if (part === 'SETNAME') connection.name = args[0] ?? '';
        return Promise.resolve(part === 'ID' ? connection.id : part === 'SETNAME' ? 'OK' : connection.name);
      },
    },
  });
  await assert.rejects(provider.lock(JOB), /given back: the connection of wait was lost/);
});
