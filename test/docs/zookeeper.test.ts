import assert from 'node:assert/strict';
import { runningServer } from '../support/servers/running';
import { databaseOn } from '../support/databases/fresh';
import { testCodeOn } from '../support/checks/page-tests';
import { testIf } from '../support/servers/test-on';
import { childrenOf, connectedClient, removeNodes, zooKeeperAddress } from '../support/servers/zookeeper';
import { JOB, testOnZooKeeper } from '../support/benches/zookeeper';
import { locksOf } from './zookeeper/access-rights';
import { start } from './zookeeper/zookeeper-locks';

testCodeOn('docs/zookeeper.md', 'test/docs/zookeeper');

const areThere = ['mysql', 'zookeeper'].every((name) => runningServer(name) !== undefined);

testIf(areThere, 'mysql beside zookeeper', 'the guard of the page runs a job under its lock', async () => {
  const database = await databaseOn('mysql');
  const operator = await connectedClient();
  const started = await start(zooKeeperAddress(), database.url);
  const nodes = (): Promise<string[]> => childrenOf(operator, `/billing/locks/${JOB.name}`);
  const result = await started.guard.run(JOB, nodes);
  assert.equal(result.executed && result.value.length, 1);
  await started.close();
  assert.deepEqual(await nodes(), []);
  await removeNodes(operator, '/billing');
  operator.close();
  await database.dispose();
});

testOnZooKeeper('the access rights of the page keep others out', async ({ client, operator }) => {
  const locks = locksOf(await client(), 'secret');
  const lock = await locks.lock(JOB);
  await assert.rejects(removeNodes(operator, '/billing-locks'), { name: 'NO_AUTH' });
  assert.equal(await lock?.unlock(), true);
  await locks.close();
  operator.addAuthInfo('digest', Buffer.from('billing:secret'));
  await removeNodes(operator, '/billing-locks');
});
