import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { testCodeOn } from '../support/checks/page-tests';
import { databaseOn } from '../support/databases/fresh';
import { runningServer } from '../support/servers/running';
import { testIf } from '../support/servers/test-on';
import { etcdEndpoint } from '../support/stores/etcd-place';
import { start } from './etcd/etcd-locks';

testCodeOn('docs/etcd.md', 'test/docs/etcd');

const hasBoth = runningServer('etcd') !== undefined && runningServer('mysql') !== undefined;

testIf(
  hasBoth,
  'etcd beside mysql',
  'the guard of the page runs a job once a day under a lock in etcd',
  async () => {
    const database = await databaseOn('mysql');
    const started = await start([etcdEndpoint()], database.url);
    const { guard } = started;
    const day = {
      name: `close-day-${randomUUID()}`,
      lockAtMostFor: '10m',
      oncePer: { period: 'day', timeZone: 'UTC' },
    } as const;
    const work = (): Promise<string> => Promise.resolve('done');
    assert.deepEqual(await guard.run(day, work), { executed: true, value: 'done' });
    assert.equal((await guard.run(day, work)).executed, false);
    await started.close();
    await database.dispose();
  },
);
