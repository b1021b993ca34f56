// More of this subject: storage/contracts.redis.test.ts, faults/storage/redis, faults/traps/redis.test.ts, bench/redis.test.ts, docs/redis.test.ts
import assert from 'node:assert/strict';
import { LockStorageError } from 'cronlatch';
import type { RedisCommandFunction } from 'cronlatch/redis';
import fc from 'fast-check';
import { JOB, testRedis } from '../../support/benches/redis';

/** The commands that concern locks, without the check of the server. */
function scriptsIn(commands: readonly (readonly string[])[]): readonly string[] {
  return commands.map(([name = '']) => name).filter((name) => name !== 'INFO');
}

testRedis('a grant, a refusal and a release are one statement each', async (bench) => {
  const { client, commands } = bench.recording();
  const provider = bench.provider({ client });
  // The first statement of a kind also sends its script.
  const first = await provider.lock(JOB);
  await first?.extend('1h');
  await first?.unlock();
  commands.length = 0;
  const lock = await provider.lock(JOB);
  assert.ok(lock);
  assert.deepEqual(scriptsIn(commands.splice(0)), ['EVALSHA']);
  assert.equal(await lock.unlock(), true);
  assert.deepEqual(scriptsIn(commands.splice(0)), ['EVALSHA']);
  const held = await provider.lock(JOB);
  await provider.lock(JOB); // Reads the holder, once a minute.
  commands.length = 0;
  assert.equal(await provider.lock(JOB), undefined);
  assert.deepEqual(scriptsIn(commands.splice(0)), ['EVALSHA']);
  assert.equal(await held?.extend('1h'), true);
  assert.deepEqual(scriptsIn(commands), ['EVALSHA']);
});

testRedis('each command of a lock has one key, so that a cluster can run it', async (bench) => {
  const { client, commands } = bench.recording();
  const provider = bench.provider({ client });
  const name = fc.stringMatching(/^[a-z{}:]{1,10}$/);
  await fc.assert(
    fc.asyncProperty(name, async (name) => {
      commands.length = 0;
      const lock = await provider.lock({ ...JOB, name });
      assert.equal(await lock?.extend('1h'), true);
      assert.equal((await provider.inspect(name))?.isHeld, true);
      assert.equal(await lock?.unlock(), true);
      for (const [command, , keys, key] of commands)
        if (command !== 'INFO') assert.deepEqual([keys, key], ['1', bench.keyPrefix + name]);
    }),
    { numRuns: 30 },
  );
});

testRedis('a script is sent as text only if the server does not have it', async (bench) => {
  const { client, commands } = bench.recording();
  let isForgotten = true;
  const provider = bench.provider({
    async client(command, key) {
      const [name, sha1] = command;
      if (name !== 'EVALSHA' || !isForgotten) return await client(command, key);
      commands.push([name, sha1 ?? '']);
      throw new Error('NOSCRIPT No matching script. Please use EVAL.');
    },
  });
  assert.ok(await provider.lock(JOB));
  isForgotten = false;
  assert.equal(await provider.lock(JOB), undefined);
  assert.deepEqual(scriptsIn(commands).slice(0, 4), ['EVALSHA', 'EVAL', 'EVALSHA', 'EVAL']);
  assert.ok(!scriptsIn(commands).slice(4).includes('EVAL'));
});

testRedis('a statement that arrives after its time limit does nothing', async (bench) => {
  const late: (() => Promise<unknown>)[] = [];
  let isDelayed = false;
  const provider = bench.provider({
    client(command) {
      if (!isDelayed) return bench.send(...command);
      late.push(() => bench.send(...command));
      return new Promise(() => {});
    },
  });
  await (await provider.lock(JOB))?.unlock();
  isDelayed = true;
  await assert.rejects(provider.lock(JOB, { statementTimeoutMs: 50 }), {
    outcome: 'unknown',
    message: /within \d+ ms/,
  });
  isDelayed = false; // For the release that follows.
  await new Promise((resolve) => setTimeout(resolve, 200)); // The server's clock decides.
  assert.ok(late.length > 0);
  for (const arrive of late) assert.match(String(await arrive()), /,late$/);
  assert.equal((await bench.provider().inspect(JOB.name))?.isHeld, false);
});

testRedis('if the clock of the server is set forward, a refused statement is sent again', async (bench) => {
  let aheadUs = 3_600_000_000;
  const { commands, client } = bench.recording();
  const provider = bench.provider({
    /** Until the jump, the server's clock is an hour behind. */
    async client([name = '', sha1 = '', keys = '', key = '', notAfter = '', ...args]) {
      const sent = [name, sha1, keys, key, String(Number(notAfter) + aheadUs), ...args];
      const answer = (await client(name === 'INFO' ? ['INFO', 'memory'] : sent, key)) as string[];
      return name === 'INFO' ? answer : [String(Number(answer[0]) - aheadUs), ...answer.slice(1)];
    },
  });
  await (await provider.lock(JOB))?.unlock();
  commands.length = 0;
  aheadUs = 0;
  assert.ok(await provider.lock(JOB));
  assert.deepEqual(scriptsIn(commands), ['EVALSHA', 'EVALSHA']);
});

testRedis('a server whose clock keeps jumping grants nothing', async (bench) => {
  const provider = bench.provider({
    async client(command) {
      const answer = (await bench.send(...command)) as string[];
      return command[0] === 'INFO' ? answer : [String(Number(answer[0]) - 1e12), ...answer.slice(1)];
    },
  });
  await assert.rejects(provider.lock(JOB), { outcome: 'nothing-ran', message: /clock jumps/ });
  assert.equal(await bench.provider().inspect(JOB.name), undefined);
});

testRedis('a statement that its client sends twice succeeds', async (bench) => {
  const client: RedisCommandFunction = async (command) => {
    await bench.send(...command);
    return await bench.send(...command);
  };
  const provider = bench.provider({ client });
  const lock = await provider.lock(JOB);
  assert.ok(lock, 'the second copy should not refuse the lock of the first');
  assert.equal(await lock.extend('1h'), true);
  assert.equal(await lock.unlock(), true);
  assert.equal(await lock.unlock(), true);
  const { fencingToken: first = Infinity } = lock;
  assert.ok(((await provider.lock(JOB))?.fencingToken ?? 0) > first);
});

testRedis('a lock that another program took with SET NX PX is held until it expires', async (bench) => {
  const key = bench.keyPrefix + JOB.name;
  await bench.send('SET', key, 'their-host', 'NX', 'PX', '60000');
  const provider = bench.provider();
  assert.equal(await provider.lock(JOB), undefined);
  const state = await provider.inspect(JOB.name);
  assert.equal(state?.lockedBy, 'their-host');
  assert.equal(state.fencingToken, undefined);
  assert.equal(await provider.forceRelease(JOB.name, 'their-host'), true);
  assert.ok(await provider.lock(JOB));
});

testRedis('a lock that was granted while the clock was ahead is free after its release', async (bench) => {
  const provider = bench.provider();
  const setAhead = async (): Promise<void> => {
    const record = String(await bench.send('GET', bench.keyPrefix + JOB.name));
    const [owner, token, lockedAt, freeAt] = record.split(' ');
    const changed = `${owner} ${token} ${Number(lockedAt) + 8 * 3_600_000_000} ${freeAt}`;
    await bench.send('SET', bench.keyPrefix + JOB.name, changed, 'KEEPTTL');
  };
  const lock = await provider.lock(JOB);
  await setAhead();
  assert.equal(await lock?.extend('10m'), true);
  assert.ok(Number((await provider.inspect(JOB.name))?.lockUntil) < Date.now() + 3_600_000);
  assert.equal(await lock?.unlock(), true);
  const kept = await provider.lock({ ...JOB, lockAtLeastFor: '1s' });
  assert.ok(kept, 'the lock is free');
  await setAhead();
  await kept.unlock();
  assert.equal(await provider.lock(JOB), undefined, 'lockAtLeastFor keeps it');
});

testRedis(
  'a key that another program wrote without an end is an error that names the key and its fix',
  async (bench) => {
    const key = bench.keyPrefix + JOB.name;
    await bench.send('SET', key, 'their-host');
    await assert.rejects(bench.provider().lock(JOB), (error: LockStorageError) => {
      assert.ok(error instanceof LockStorageError);
      assert.equal(error.outcome, 'nothing-ran');
      assert.match(error.message, new RegExp(`its key '${key}' has .+ without an expiry. .+ delete the key`));
      return true;
    });
    assert.equal((await bench.provider().inspect(JOB.name))?.lockedBy, 'their-host');
    await bench.send('DEL', key);
    assert.ok(await bench.provider().lock(JOB));
  },
);

testRedis('a record of a released lock keeps its token for a minute, and then goes', async (bench) => {
  const lock = await bench.provider().lock(JOB);
  await lock?.unlock();
  const key = bench.keyPrefix + JOB.name;
  const left = Number(await bench.send('PTTL', key));
  assert.ok(left > 50_000 && left <= 60_000, `${left}`);
  const ahead = Number(lock?.fencingToken) + 1e12;
  const record = String(await bench.send('GET', key)).replace(String(lock?.fencingToken), String(ahead));
  await bench.send('SET', key, record, 'PX', '60000'); // As if the server's clock had been set back.
  assert.equal((await bench.provider().lock(JOB))?.fencingToken, ahead + 1);
});

testRedis('a health check sends one statement, and fails if the server does not answer', async (bench) => {
  await bench.provider().probe(1000);
  const silent = bench.provider({ client: () => new Promise(() => {}) });
  await assert.rejects(silent.probe(20), LockStorageError);
});

testRedis('a purge finds nothing to delete, because Redis deletes expired records', async (bench) => {
  await (await bench.provider().lock(JOB))?.unlock();
  assert.equal(await bench.provider().purge(), 0);
});
