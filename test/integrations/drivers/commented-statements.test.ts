/** Tools that put a comment before each statement, another one each time, such as the id of a trace. */
import assert from 'node:assert/strict';
import * as pgDriver from 'cronlatch/pg';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import mysql2, { type Connection } from 'mysql2';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { closing } from '../../support/benches/closing';
import { JOB } from '../../support/benches/transaction';
import { databaseOn, testOn } from '../../support/databases/fresh';
import { migratedDataSource } from '../../support/databases/lock-table';
import { postgresPool } from '../../support/databases/postgres';

let traces = 0;
const commented = (text: string): string => `/* trace ${++traces} */ ${text}`;

class CommentingClient extends pg.Client {
  constructor(options?: pg.ClientConfig) {
    super(options);
    const send = this.query.bind(this) as (...args: unknown[]) => unknown;
    const query = (statement: pg.QueryConfig, ...rest: unknown[]): unknown =>
      send(
        statement.text === undefined ? statement : { ...statement, text: commented(statement.text) },
        ...rest,
      );
    Object.assign(this, { query });
  }
}

testOn('postgres', 'statements whose text changes are sent unprepared from then on', async () => {
  await using database = closing(await databaseOn('postgres'));
  const pool = postgresPool({ connectionString: database.url, Client: CommentingClient });
  await pgDriver.createTables(pool);
  const complaints: string[] = [];
  const complain = (line: string): void => void complaints.push(line);
  const logger = { warn: complain, error: complain };
  const guard = await pgDriver.createJobGuard(pool, { pollInterval: false, logger });
  try {
    for (let tick = 1; tick <= 6; tick += 1) {
      const lockOnly = await guard.run({ name: 'sync-stock', lockAtMostFor: '1h' }, () => {});
      assert.equal(lockOnly.executed, true, `tick ${tick}`);
      const name = `day-${tick}`;
      await guard.run({ ...JOB, name }, () => pgDriver.inRunTransaction(() => {}));
      assert.equal((await guard.ledger.last(name))?.state, 'completed');
    }
  } finally {
    await guard.close();
    await pool.end();
  }
  assert.deepEqual(complaints, []);
  assert.deepEqual(await database.ask('SELECT name FROM shedlock WHERE lock_until > now()'), []);
});

for (const server of ['mysql', 'mariadb'] as const)
  testOn(server, 'statements whose text changes do not use up the room for prepared statements', async () => {
    await using database = closing(await databaseOn(server));
    await using application = closing(await migratedDataSource(database));
    const opened: Connection[] = [];
    const createConnection = (options: object): Connection => {
      const connection = mysql2.createConnection(options);
      const execute = connection.execute.bind(connection) as (sql: string, ...rest: unknown[]) => unknown;
      opened.push(connection);
      const changed = (sql: string, ...rest: unknown[]) => execute(commented(sql), ...rest);
      return Object.assign(connection, { execute: changed as typeof connection.execute });
    };
    traces = 0;
    const driver = { ...mysql2, createConnection };
    const dataSource = new DataSource({ ...application.options, driver });
    await using provider = closing(new TypeOrmLockProvider(dataSource));
    for (let tick = 1; tick <= 250; tick += 1)
      assert.equal(await (await provider.lock({ name: 'job', lockAtMostFor: '1h' }))?.unlock(), true);
    let closed = 0;
    for (const connection of opened) {
      const [rows] = await connection
        .promise()
        .query<mysql2.RowDataPacket[]>(`SHOW SESSION STATUS LIKE 'Com_stmt_close'`);
      closed += Number(rows[0]?.['Value']);
    }
    assert.ok(traces - closed <= 200 * opened.length, `${closed} of ${traces} statements were closed`);
  });
