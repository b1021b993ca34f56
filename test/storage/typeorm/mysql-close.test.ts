import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataSource } from 'typeorm';
import { systemClock, type LockConfiguration } from 'cronlatch';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { sqlite } from '#cronlatch/storage/sql/dialects/sqlite';
import { PooledSqlExecutor } from '#cronlatch/storage/sql/pooled-sql-executor';
import type { SqlResult } from '#cronlatch/storage/sql/sql-executor';
import { mysqlDatabase, testOn } from '../../support/databases';
import { signal } from '../../support/executor-bench';
import { eventually } from '../../support/eventually';
import { turn } from '../../support/lock-bench';
import { migratedDataSource } from '../../support/lock-table';
import { targetOf, tcpProxy, throughProxy, type TcpProxy } from '../../support/tcp-proxy';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

void test('a statement that waits for its turn is not sent, and opens nothing, after close', async () => {
  let opened = 0;
  const answer = signal<SqlResult>();
  const connection = { execute: () => answer.promise, release: () => {}, destroy: () => {} };
  const open = () => Promise.resolve(((opened += 1), connection));
  const executor = new PooledSqlExecutor(
    { size: 1, open, close: () => Promise.resolve() },
    sqlite,
    systemClock,
  );
  const first = executor.execute({ text: 'first', values: [] }, { timeoutMs: 1000, urgent: false });
  const second = executor.execute({ text: 'second', values: [] }, { timeoutMs: 1000, urgent: false });
  second.catch(() => {}); // Awaited below.
  await turn();
  await executor.close();
  answer.resolve({ rows: [], affectedRows: 0, insertId: 0 });
  await first;
  await assert.rejects(second, { progress: 'not-sent' });
  assert.equal(opened, 1);
});

testOn('mysql', 'closing while locks are asked for leaves no connection', async () => {
  const database = await mysqlDatabase();
  await (await migratedDataSource(database)).destroy();
  const provider = new TypeOrmLockProvider(new DataSource({ type: 'mysql', url: database.url }));
  await (await provider.lock(JOB))?.unlock();
  const names = Array.from({ length: 6 }, (_, i) => `job-${i}`);
  const asked = Promise.allSettled(names.map((name) => provider.lock({ ...JOB, name })));
  await provider.close();
  await asked;
  const connections = async (): Promise<number> => {
    const query = 'SELECT id FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID()';
    const [rows] = await database.root.query(query, [database.name]);
    return (rows as unknown[]).length;
  };
  await eventually(async () => (await connections()) === 0, 'no connection is left');
  await database.dispose();
});

/** A provider whose way to its server can go silent. */
async function silentBench() {
  const database = await mysqlDatabase();
  await (await migratedDataSource(database)).destroy();
  const proxy = await tcpProxy(targetOf(database.url));
  const dataSource = new DataSource({ type: 'mysql', url: throughProxy(database.url, proxy) });
  const provider = new TypeOrmLockProvider(dataSource, { statementTimeout: '200ms' });
  const dispose = async (): Promise<void> => {
    await proxy.close();
    await database.dispose();
  };
  return { proxy, provider, dispose };
}

/** How many sockets of this process lead to the proxy. */
function socketsTo({ port }: TcpProxy): number {
  type Handles = { _getActiveHandles(): { remotePort?: number; destroyed?: boolean }[] };
  const handles = (process as unknown as Handles)._getActiveHandles();
  return handles.filter(({ remotePort, destroyed }) => remotePort === port && !destroyed).length;
}

for (const pieces of [1, 2, 3, 4]) {
  testOn('mysql', `openings that went silent after ${pieces} answers leave no socket behind`, async () => {
    const { proxy, provider, dispose } = await silentBench();
    proxy.stallNewAfter(pieces);
    for (let tick = 0; tick < 4; tick += 1) await assert.rejects(provider.lock(JOB));
    await provider.close();
    await eventually(() => socketsTo(proxy) === 0, 'no socket is left');
    await dispose();
  });
}

testOn('mysql', 'closing at a server that went silent leaves no socket behind', async () => {
  const { proxy, provider, dispose } = await silentBench();
  await (await provider.lock(JOB))?.unlock();
  proxy.stall();
  await provider.close();
  await eventually(() => socketsTo(proxy) === 0, 'no socket is left');
  await dispose();
});

testOn(
  'mysql',
  'names are compared byte for byte, whatever the character set of the application',
  async () => {
    const database = await mysqlDatabase();
    const dataSource = await migratedDataSource(database, { charset: 'LATIN1_SWEDISH_CI' });
    const provider = new TypeOrmLockProvider(dataSource);
    for (const name of ['ř-job', 'š-job', '日-job']) assert.ok(await provider.lock({ ...JOB, name }), name);
    assert.throws(
      () => new TypeOrmLockProvider(dataSource, { connections: 'shared' }),
      /needs the charset utf8mb4/,
    );
    await provider.close();
    await dataSource.destroy();
    await database.dispose();
  },
);
