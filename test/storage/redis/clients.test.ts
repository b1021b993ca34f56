import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandFunctionOf, type RedisClient } from '#cronlatch/storage/redis/redis-client';

/** What a client with these members is called with, for a command on the key `lock`. */
async function argumentsOf(members: object): Promise<unknown[]> {
  const calls: unknown[][] = [];
  const client = {
    isOpen: true,
    on: () => {},
    destroy: () => {},
    sendCommand(...args: unknown[]) {
      calls.push(args);
      return Promise.resolve('OK');
    },
    ...members,
  };
  assert.equal(await commandFunctionOf(client as RedisClient)(['GET', 'lock'], 'lock'), 'OK');
  assert.equal(calls.length, 1);
  return calls[0] ?? [];
}

void test('each kind of client of node-redis gets the arguments of its own sendCommand', async () => {
  assert.deepEqual(await argumentsOf({}), [['GET', 'lock']]);
  assert.deepEqual(await argumentsOf({ totalClients: 1 }), [['GET', 'lock']]);
  assert.deepEqual(await argumentsOf({ slots: [] }), ['lock', false, ['GET', 'lock']]);
  assert.deepEqual(await argumentsOf({ getMasterNode: () => {} }), [false, ['GET', 'lock']]);
});

void test('a client of ioredis gets the command by its name', async () => {
  const calls: unknown[][] = [];
  const client = {
    status: 'ready',
    on: () => {},
    disconnect: () => {},
    sendCommand: () => assert.fail('it takes an object of ioredis'),
    call(...args: unknown[]) {
      calls.push(args);
      return Promise.resolve('OK');
    },
  };
  assert.equal(await commandFunctionOf(client)(['GET', 'lock'], 'lock'), 'OK');
  assert.deepEqual(calls, [['GET', 'lock']]);
});
