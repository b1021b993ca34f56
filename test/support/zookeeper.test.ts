import assert from 'node:assert/strict';
import { promisify } from 'node:util';
import { createClient, type Client } from 'node-zookeeper-client';
import { ownServer } from './own-server';
import { testOnOwn } from './test-on';

testOnOwn('zookeeper', 'a ZooKeeper of its own is empty, and keeps its nodes when it is killed', async () => {
  const server = await ownServer('zookeeper');
  try {
    assert.match(server.version, /^3\.\d+\.\d+/);
    await withClient(server.url, async (client) => {
      assert.deepEqual(await childrenOf(client, '/'), ['zookeeper']);
      await promisify<string, string>(client.create.bind(client))('/kept');
    });
    await server.kill();
    await server.restart();
    await withClient(server.url, async (client) => {
      assert.deepEqual((await childrenOf(client, '/')).sort(), ['kept', 'zookeeper']);
    });
  } finally {
    await server.stop();
  }
});

async function withClient(url: string, body: (client: Client) => Promise<void>): Promise<void> {
  const client = createClient(new URL(url).host, { sessionTimeout: 5_000, retries: 0 });
  const connected = new Promise<void>((resolve) => client.once('connected', resolve));
  client.connect();
  await connected;
  try {
    await body(client);
  } finally {
    client.close();
  }
}

function childrenOf(client: Client, path: string): Promise<string[]> {
  return promisify<string, string[]>(client.getChildren.bind(client))(path);
}
