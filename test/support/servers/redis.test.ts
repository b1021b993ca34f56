import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { closing } from '../benches/closing';
import { ownServer } from './own';
import { testOnOwn } from './test-on';

testOnOwn('redis', 'a Redis of its own is empty, also after a restart', async () => {
  await using server = closing(await ownServer('redis'));
  await withClient(server.url, async (client) => {
    assert.equal(await client.dbsize(), 0);
    await client.set('key', 'value', 'PX', 60_000, 'NX');
    assert.equal(await client.get('key'), 'value');
  });
  await server.restart();
  await withClient(server.url, async (client) => assert.equal(await client.dbsize(), 0));
});

async function withClient(url: string, body: (client: Redis) => Promise<void>): Promise<void> {
  const client = new Redis(url, { retryStrategy: () => null });
  try {
    await body(client);
  } finally {
    client.disconnect();
  }
}
