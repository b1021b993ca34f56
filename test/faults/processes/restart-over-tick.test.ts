import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { sampleSize } from '../../support/checks/sample-size';
import { testOnEvery } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { targetOf, tcpProxy, throughProxy } from '../../support/faults/tcp-proxy';
import { galeraCluster, pgpoolServer } from '../../support/servers/own';
import { withStarted } from '../../support/servers/test-on';
import {
  assertEachOnce,
  doneIn,
  INSTANCES,
  random,
  RESTARTS,
  restartOverTicks,
  withInstances,
} from './restart/instances';

const DEPLOYMENTS = sampleSize({ fast: 2, full: 100 });
const NAME = `three instances restart over ticks, ${RESTARTS} times at random moments: each period runs once, and none is missing (S-01)`;

testOnEvery(
  NAME,
  async (database, t) => {
    await using dataSource = closing(await ledgerDataSource(database));
    await restartOverTicks(database.options, dataSource, t);
  },
  ['mysql', 'postgres'],
);

/** The DataSource of the tables, which creates them. */
async function tablesAt(options: DataSourceOptions): Promise<DataSource> {
  const dataSource = new DataSource({ ...options, migrations: [createCronlatchMigration()] });
  await dataSource.initialize();
  await dataSource.runMigrations();
  return dataSource;
}

void test(`Pgpool-II: ${NAME}`, (t) =>
  withStarted(t, 'pgpool', pgpoolServer, async (server) => {
    await using dataSource = closing(await tablesAt({ type: 'postgres', url: `${server.primary}/postgres` }));
    await restartOverTicks({ type: 'postgres', url: `${server.url}/postgres` }, dataSource, t);
  }));

void test(`Galera, each connection on the next node: ${NAME}`, (t) =>
  withStarted(t, 'Galera cluster', galeraCluster, async ({ urls }) => {
    await using proxy = closing(await tcpProxy(urls.map(targetOf)));
    const [first = ''] = urls;
    const root = await mysql.createConnection(first);
    await root.query('CREATE DATABASE restarts');
    await root.end();
    const url = `${first}/restarts`;
    await using dataSource = closing(await tablesAt({ type: 'mariadb', url, poolSize: 1 }));
    // A plain read may miss what another node has committed.
    await dataSource.query('SET SESSION wsrep_sync_wait = 1');
    await restartOverTicks({ type: 'mariadb', url: throughProxy(url, proxy) }, dataSource, t);
  }));

testOnEvery(
  `a rolling deployment, ${DEPLOYMENTS} times, half of them with another schedule: no period runs twice, and nothing runs early (S-04, S-19)`,
  async (database, t) => {
    await using dataSource = closing(await ledgerDataSource(database));
    await withInstances(database.options, dataSource, async (instances) => {
      let delayS = 0;
      await instances.each(() => instances.start(delayS));
      const ends: [number, number][] = [];
      for (let deployment = 0; deployment < DEPLOYMENTS; deployment += 1) {
        const sinceMs = Date.now();
        if (deployment % 2 === 0) delayS = delayS === 0 ? 1 + random(17) : 0;
        for (let replaced = 0; replaced < INSTANCES; replaced += 1) {
          await setTimeout(random(500));
          await instances.stop();
          await instances.start(delayS);
        }
        if (deployment % 2 === 0) ends.push([sinceMs, Date.now()]);
        await setTimeout(random(4000));
      }
      const done = await doneIn(dataSource);
      assertEachOnce(done);
      assert.ok(done.length > 0);
      // No time before the deployment that moved the ticks counts.
      const madeUp = done.filter(({ isMadeUp }) => isMadeUp);
      const moved = madeUp.filter(({ scheduledMs = 0, ranMs }) =>
        ends.some(([sinceMs, untilMs]) => scheduledMs < sinceMs && untilMs < ranMs),
      );
      assert.deepEqual(moved, []);
      t.diagnostic(`${done.length} runs, ${madeUp.length} of them made up`);
    });
  },
  ['mysql', 'postgres'],
);
