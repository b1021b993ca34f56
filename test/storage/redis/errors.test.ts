import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { LockStorageError } from 'cronlatch';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { redisErrorOf } from '#cronlatch/storage/redis/redis-errors';
import { JOB, testRedis } from '../../support/benches/redis';

/** Errors with their outcome and advice. */
const OUTCOMES: Readonly<Record<LockStorageError['outcome'], Readonly<Record<string, RegExp>>>> = {
  'nothing-ran': {
    "READONLY You can't write against a read only replica. script: 5d31, on @user_script:19.":
      /Connect to the primary/,
    "ERR Error running script (call to f_5d): @user_script:19: -READONLY You can't write":
      /Connect to the primary/,
    'LOADING Redis is loading the dataset in memory': /Wait/,
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.": /primary/,
    'CLUSTERDOWN Hash slot not served': /Check its nodes/,
    'MOVED 866 127.0.0.1:7001': /client of the cluster/,
    'NOAUTH Authentication required.': /user and a password/,
    "NOPERM this user has no permissions to run the 'evalsha' command": /Allow this user/,
    "OOM command not allowed when used memory > 'maxmemory'.": /more memory/,
    'WRONGTYPE Operation against a key holding the wrong kind of value': /keyPrefix/,
    'NOREPLICAS Not enough good replicas to write.': /min-replicas-to-write/,
    'MISCONF Redis is configured to save RDB snapshots': /log/,
    'The client is offline': /client's connection/,
    "Stream isn't writeable and enableOfflineQueue options is false": /client's connection/,
  },
  contention: {
    'BUSY Redis is busy running a script.': /script/,
    'TRYAGAIN Multiple keys request during rehashing of slot': /slot/,
  },
  unknown: {
    'ERR upstream failure': /may have run/,
    'Connection is closed.': /may have run/,
    'Socket closed unexpectedly': /may have run/,
    'Reached the max retries per request limit (which is 20).': /may have run/,
  },
};

for (const [outcome, messages] of Object.entries(OUTCOMES))
  void test(`each error of the server and of the clients whose outcome is ${outcome} has advice`, () => {
    for (const [message, advice] of Object.entries(messages)) {
      const error = redisErrorOf(new Error(message), 'close-day');
      assert.equal(error.outcome, outcome, message);
      assert.match(error.message, advice);
      assert.match(error.message, /close-day/);
    }
  });

void test('the code of the server, or that of the socket, is the code of the driver', () => {
  assert.equal(redisErrorOf(new Error('OOM command not allowed'), 'job').driverCode, 'OOM');
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  assert.equal(redisErrorOf(refused, 'job').driverCode, 'ECONNREFUSED');
});

void test('no message holds a password, and the command of the client is not passed on', () => {
  const thrown = Object.assign(new Error('cannot reach redis://app:hush@db:6379/0'), {
    command: { name: 'auth', args: ['hush'] },
  });
  const error = redisErrorOf(thrown, 'close-day');
  assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /hush/);
  assert.match(error.message, /redis:\/\/\*\*\*@db/);
  const notEncoded = redisErrorOf(new Error('cannot reach redis://app:a/b@hush@db:6379/0'), 'close-day');
  assert.doesNotMatch(notEncoded.message, /hush|a\/b/);
});

testRedis('a key that another program uses for another purpose is named as the cause', async (bench) => {
  await bench.send('LPUSH', bench.keyPrefix + JOB.name, 'value');
  await assert.rejects(bench.provider().lock(JOB), { outcome: 'nothing-ran', driverCode: 'WRONGTYPE' });
  await bench.send('DEL', bench.keyPrefix + JOB.name);
});

testRedis('a function that does not return the answer is refused', async (bench) => {
  const provider = bench.provider({ client: () => Promise.resolve('OK') });
  await assert.rejects(provider.lock(JOB), /did not return the answer of the script for lock 'close-day'/);
});

void test('a command that a client could not send has not run', async () => {
  const { RedisLockProvider } = await import('cronlatch/redis');
  const ioredis = new Redis(1, { enableOfflineQueue: false, lazyConnect: true, retryStrategy: () => null });
  ioredis.on('error', () => {});
  const nodeRedis = createClient({ url: 'redis://:hush@127.0.0.1:1', disableOfflineQueue: true });
  nodeRedis.on('error', () => {});
  const connecting = nodeRedis.connect().catch(() => {});
  for (const client of [ioredis, nodeRedis])
    await assert.rejects(new RedisLockProvider({ id: 'orders', client }).lock(JOB), (error) => {
      assert.ok(error instanceof LockStorageError);
      assert.equal(error.outcome, 'nothing-ran');
      assert.doesNotMatch(inspect(error, { depth: 9 }), /hush/);
      return true;
    });
  ioredis.disconnect();
  nodeRedis.destroy();
  await connecting;
});
