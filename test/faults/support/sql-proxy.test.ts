import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { closing } from '../../support/benches/closing';
import { eventually } from '../../support/clocks/eventually';
import { insertLockRow } from '../../support/databases/lock-table';
import { testOnServers } from '../../support/benches/server';
import { targetOf, tcpProxy, throughProxy } from '../../support/faults/tcp-proxy';
import { protocolOf, sqlProxy } from '../../support/faults/sql-proxy/sql-proxy';

const INSERT = { name: 'job', lockedBy: 'somebody', endsInMs: 60_000 };

testOnServers('only the reply to a successful statement is swallowed', async (bench) => {
  const proxy = bench.closeAtEnd(await sqlProxy(targetOf(bench.database.url), protocolOf(bench.server)));
  const dataSource = await bench.connected({ url: throughProxy(bench.database.url, proxy) });
  await insertLockRow(bench.application, INSERT);
  const swallowed = proxy.swallow('insert', 'silence');
  await assert.rejects(insertLockRow(dataSource, INSERT), /duplicate/i);
  assert.equal(proxy.swallowed.size, 0);
  let isAnswered = false;
  const inserting = insertLockRow(dataSource, { ...INSERT, name: 'other' }).finally(
    () => (isAnswered = true),
  );
  const cut = assert.rejects(inserting);
  await swallowed;
  assert.deepEqual(await bench.application.query(`SELECT name FROM shedlock WHERE name = 'other'`), [
    { name: 'other' },
  ]);
  assert.equal(isAnswered, false);
  assert.ok(proxy.cut() >= 1);
  await cut;
  await dataSource.query('SELECT 1'); // On a new connection.
});

testOnServers('a stalled statement arrives when the traffic flows again', async (bench) => {
  const proxy = bench.closeAtEnd(await sqlProxy(targetOf(bench.database.url), protocolOf(bench.server)));
  const dataSource = await bench.connected({ url: throughProxy(bench.database.url, proxy) });
  const insert = (name: string): Promise<void> => insertLockRow(dataSource, { ...INSERT, name });
  const names = async (): Promise<unknown[]> =>
    await bench.application.query('SELECT name FROM shedlock ORDER BY name');

  proxy.stall('to-client');
  const deaf = insert('a');
  await eventually(async () => (await names()).length === 1, 'the statement arrives');
  proxy.flow();
  await deaf;

  proxy.stall('to-server');
  const mute = insert('b');
  await bench.application.query('SELECT 1');
  assert.equal((await names()).length, 1);
  proxy.flow();
  await mute;
  assert.deepEqual(await names(), [{ name: 'a' }, { name: 'b' }]);
});

testOnServers('a delayed statement arrives later', async (bench) => {
  const proxy = bench.closeAtEnd(await sqlProxy(targetOf(bench.database.url), protocolOf(bench.server)));
  const dataSource = await bench.connected({ url: throughProxy(bench.database.url, proxy) });
  proxy.delay(50);
  const beganAtMs = performance.now();
  await dataSource.query('SELECT 1');
  assert.ok(performance.now() - beganAtMs >= 100, 'there and back');
  proxy.delay(0);
  await dataSource.query('SELECT 1');
});

testOnServers('the server does not notice the end of a client that is stalled', async (bench) => {
  const proxy = bench.closeAtEnd(await sqlProxy(targetOf(bench.database.url), protocolOf(bench.server)));
  const client = connect(proxy.port, '127.0.0.1');
  await once(client, 'connect');
  proxy.stall('to-server');
  client.destroy();
  await eventually(() => proxy.halfOpen === 1, 'the client has disconnected');
  proxy.flow();
  await eventually(() => proxy.halfOpen === 0, 'the server notices it');
});

void test('a closed proxy keeps its port: the system gives it to no other process', async () => {
  await using proxy = closing(await tcpProxy({ host: '127.0.0.1', port: 1 }));
  await proxy.close();
  assert.ok(proxy.port < 32_768, String(proxy.port));
  await proxy.open();
});
