import assert from 'node:assert/strict';
import { testDrivers } from '../support/benches/driver';
import { testCodeOn } from '../support/checks/page-tests';
import * as onSqlite from './drivers/better-sqlite3';
import * as onMysql2 from './drivers/mysql2';
import * as onPg from './drivers/pg';
import { deploy } from './drivers/tables';

testCodeOn('docs/drivers.md', 'test/docs/drivers');

testDrivers(
  'the job of the page settles a day once, in the transaction that completes its run',
  async (bench, t) => {
    const log = t.mock.method(console, 'log', () => {});
    await (bench.name === 'cronlatch/pg' ? deploy(bench.url) : bench.createTables());
    await bench.query('CREATE TABLE settlement (day VARCHAR(20) NOT NULL)');
    const { settle } = { mysql2: onMysql2, pg: onPg, 'better-sqlite3': onSqlite }[bench.driver];
    for (let day = 0; day < 2; day += 1) await settle(bench.pool() as never);
    assert.equal((await bench.query('SELECT day FROM settlement')).length, 1);
    assert.equal(log.mock.callCount(), 0, 'the tables have no problems');
  },
  ['mysql', 'postgres', 'sqlite'],
);
