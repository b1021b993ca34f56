import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { LockStorageError } from 'cronlatch';
import { closing } from '../../../support/benches/closing';
import { databaseOn, testOnEveryServer, type ServerName } from '../../../support/databases/fresh';
import { lockRows, migratedDataSource } from '../../../support/databases/lock-table';
import { withUser as withDatabaseUser } from '../../../support/databases/user';
import { reasonOf } from '../../../support/benches/guard';
import { CheckedLockProvider } from '../../../support/stores/checked-lock-provider';

const JOB = { name: 'job', lockAtMostFor: '10m' } as const;
const NEEDED = ['SELECT', 'INSERT', 'UPDATE'];

interface UserBench {
  /** The administrator's. */
  readonly dataSource: DataSource;
  /** Sends a statement as the administrator. */
  readonly run: (text: string) => Promise<unknown>;
  /** The user's. */
  readonly provider: CheckedLockProvider;
}

/**
 * The lock table, another table that the user may read, and a user with the given privileges on the lock
 * table.
 */
async function withUser(
  server: ServerName,
  privileges: readonly string[],
  body: (bench: UserBench) => Promise<void>,
  keepRows = true,
): Promise<void> {
  await using database = closing(await databaseOn(server));
  const run = (text: string): Promise<unknown> => database.ask(text);
  await using dataSource = closing(await migratedDataSource(database));
  await withDatabaseUser(server, database, async ({ account, url }) => {
    await run('CREATE TABLE beside (id INT)');
    await run(`GRANT SELECT ON beside TO ${account}`);
    if (privileges.length > 0) await run(`GRANT ${privileges.join(', ')} ON shedlock TO ${account}`);
    const application = new DataSource({ type: server, url });
    await using provider = closing(new CheckedLockProvider(application, { keepRows }));
    await body({ dataSource, run, provider });
  });
}

testOnEveryServer(`locks need only ${NEEDED.join(', ')} on the table (F-69)`, (server) =>
  withUser(server, NEEDED, async ({ provider }) => {
    assert.deepEqual(await provider.verifySchema(), []);
    const lock = await provider.lock(JOB);
    assert.equal(await lock?.extend('20m'), true);
    assert.equal(await provider.lock(JOB), undefined);
    assert.equal(await lock?.unlock(), true);
    assert.ok(await provider.lock(JOB));
  }),
);

for (const refused of [...NEEDED, undefined]) {
  testOnEveryServer(
    `without ${refused ?? 'any privilege'} no lock is granted, and the error contains the server's reason (F-69)`,
    (server) => {
      const granted = refused === undefined ? [] : NEEDED.filter((privilege) => privilege !== refused);
      return withUser(server, granted, async ({ dataSource, provider }) => {
        const error = await reasonOf(provider.lock(JOB));
        assert.ok(error instanceof LockStorageError, String(error));
        assert.equal(error.outcome, 'nothing-ran');
        const ofMysql =
          refused === undefined
            ? `^Table 'shedlock' in .* is missing, or this database user has no access to it`
            : `rejected the statement for lock 'job': ${refused} command denied to user .* for (column|table) `;
        const words =
          server === 'postgres'
            ? `rejected the statement for lock 'job': permission denied for table shedlock`
            : ofMysql;
        assert.match(error.message, new RegExp(words));
        assert.deepEqual(await lockRows(dataSource), []);
      });
    },
  );
}

testOnEveryServer('without DELETE, the error of a purge contains the GRANT to run', (server) => {
  const purged = async ({ provider, run }: UserBench): Promise<void> => {
    const error = await reasonOf(provider.purge(0));
    assert.ok(error instanceof LockStorageError, String(error));
    const [grant = ''] = /GRANT DELETE ON \S+ TO \S+(?=\.$)/.exec(error.message) ?? [];
    assert.notEqual(grant, '', error.message);
    await run(grant);
    assert.equal(await provider.purge(0), 0);
  };
  return withUser(server, NEEDED, purged, false);
});
