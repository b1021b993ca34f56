import assert from 'node:assert/strict';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';
import { closing } from '../../support/benches/closing';
import { OwnSession } from '../../support/benches/own-session';
import { databaseOn, testOn } from '../../support/databases/fresh';
import { lockRows, migratedDataSource } from '../../support/databases/lock-table';

const JOB = { name: 'job', lockAtMostFor: '1m' };

const NUMBERED = 'ALTER TABLE shedlock DROP PRIMARY KEY, ADD UNIQUE KEY (name), ADD COLUMN id BIGINT';
const RECREATED = [
  'DROP TABLE shedlock',
  `CREATE TABLE shedlock (
    name VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL UNIQUE,
    lock_until DATETIME(6) NOT NULL, locked_at DATETIME(6) NOT NULL,
    locked_by VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    fencing_token BIGINT UNSIGNED NOT NULL DEFAULT 0)`,
];

interface Table {
  readonly table: string;
  readonly changes: readonly string[];
  readonly servers?: readonly ('mysql' | 'mariadb')[];
}

/**
 * On these tables MySQL replies to an INSERT with a number other than the token in
 * LAST_INSERT_ID(expression).
 */
const TABLES: readonly Table[] = [
  {
    table: 'an audit trigger',
    changes: [
      'CREATE TABLE audit (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(64), token BIGINT)',
      ...['INSERT', 'UPDATE'].map(
        (event) => `CREATE TRIGGER audit_${event} AFTER ${event} ON shedlock FOR EACH ROW
          INSERT INTO audit (name, token) VALUES (NEW.name, NEW.fencing_token)`,
      ),
    ],
  },
  { table: 'an AUTO_INCREMENT key', changes: [`${NUMBERED} NOT NULL AUTO_INCREMENT PRIMARY KEY`] },
  {
    table: 'an AUTO_INCREMENT key whose numbers are as large as tokens',
    changes: [
      `${NUMBERED} NOT NULL AUTO_INCREMENT PRIMARY KEY`,
      'ALTER TABLE shedlock AUTO_INCREMENT = 9000000000000000',
    ],
  },
  { table: 'an invisible AUTO_INCREMENT key', changes: [`${NUMBERED} AUTO_INCREMENT INVISIBLE PRIMARY KEY`] },
  {
    table: 'an invisible key that the server has added',
    changes: ['SET SESSION sql_generate_invisible_primary_key = ON', ...RECREATED],
    servers: ['mysql'],
  },
];

for (const { table, changes, servers = ['mysql', 'mariadb'] as const } of TABLES) {
  for (const server of servers) {
    testOn(server, `tokens rise on a table with ${table} (P3, F-72)`, async () => {
      const database = await databaseOn(server);
      const application = await migratedDataSource(database);
      const session = application.createQueryRunner();
      for (const change of changes) await session.query(change);
      await session.release();
      const providers = [1, 2, 3].map(() => new TypeOrmLockProvider(new DataSource(database.options)));
      try {
        const tokens: number[] = [];
        for (const provider of providers) {
          // Each provider first tries to insert the row, because it does not know the name, and then takes it
          // over.
          await application.query('DELETE FROM shedlock');
          for (let grant = 1; grant <= 2; grant += 1) {
            const lock = await provider.lock(JOB);
            assert.ok(lock?.fencingToken);
            tokens.push(lock.fencingToken);
            const rows = await lockRows(application);
            assert.deepEqual(
              [lock.fencingToken],
              rows.map(({ token }) => token),
            );
            assert.equal(await lock.unlock(), true);
          }
        }
        const rising = [...new Set(tokens)].sort((one, other) => one - other);
        assert.deepEqual(tokens, rising);
      } finally {
        for (const provider of providers) await provider.close();
        await application.destroy();
        await database.dispose();
      }
    });
  }
}

testOn('mysql', 'the token is read from the row if the server hides its generated key (P3)', async () => {
  await using database = closing(await databaseOn('mysql'));
  await using application = closing(await new DataSource(database.options).initialize());
  const runner = application.createQueryRunner();
  for (const change of ['SET SESSION sql_generate_invisible_primary_key = ON', RECREATED[1] ?? ''])
    await runner.query(change);
  await runner.release();
  await using session = closing(new OwnSession(application));
  await session.query('SET SESSION show_gipk_in_create_table_and_information_schema = OFF');
  const lock = await session.provider.lock(JOB);
  const rows = await lockRows(application);
  assert.deepEqual(
    [lock?.fencingToken],
    rows.map(({ token }) => token),
  );
});
