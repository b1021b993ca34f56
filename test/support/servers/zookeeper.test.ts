import assert from 'node:assert/strict';
import { promisify } from 'node:util';
import { createClient, type Client } from 'node-zookeeper-client';
import { closing } from '../benches/closing';
import { ownServer } from './own';
import { testOnOwn } from './test-on';

testOnOwn('zookeeper', 'a ZooKeeper of its own is empty, and keeps its nodes when it is killed', async () => {
  await using server = closing(await ownServer('zookeeper'));
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
});

async function withClient(url: string, body: (client: Client) => Promise<void>): Promise<void> {
  await using client = closing(createClient(new URL(url).host, { sessionTimeout: 5_000, retries: 0 }));
  const connected = new Promise<void>((resolve) => client.once('connected', resolve));
  client.connect();
  await connected;
  await body(client);
}

function childrenOf(client: Client, path: string): Promise<string[]> {
  return promisify<string, string[]>(client.getChildren.bind(client))(path);
}
