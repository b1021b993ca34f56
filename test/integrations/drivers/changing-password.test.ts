/** Passwords that change while a guard runs, such as the tokens of a cloud. */
import assert from 'node:assert/strict';
import { InvalidLockConfigurationError, LockStorageError } from 'cronlatch';
import * as sqliteDriver from 'cronlatch/better-sqlite3';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import * as typeormDriver from 'cronlatch/typeorm';
import { createConnection } from 'mysql2/promise';
import { test } from 'node:test';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { closing } from '../../support/benches/closing';
import { JOB } from '../../support/benches/transaction';
import { eventually } from '../../support/clocks/eventually';
import { testOnOwn } from '../../support/databases/fresh';
import { ownServer } from '../../support/servers/own';

interface Root {
  readonly url: string;
  readonly ask: (statement: string) => Promise<unknown>;
  /** Ends the sessions of the user `app`, as a server does when a token expires, or a deployment. */
  readonly endSessions: () => Promise<void>;
  readonly close: () => Promise<unknown>;
}

async function mysqlRoot(url: string): Promise<Root> {
  const root = await createConnection({ uri: url });
  await root.query('CREATE DATABASE app');
  await root.query(`CREATE USER app IDENTIFIED BY 'first'`);
  await root.query('GRANT ALL ON app.* TO app');
  return {
    url: `${url.replace('root', 'app')}/app`,
    ask: (statement) => root.query(statement.replace('app PASSWORD', 'app IDENTIFIED BY')),
    async endSessions() {
      const [sessions] = await root.query('SHOW PROCESSLIST');
      for (const { Id, User } of sessions as { Id: number; User: string }[])
        if (User === 'app') await root.query(`KILL ${Id}`);
    },
    close: () => root.end(),
  };
}

async function postgresRoot(url: string): Promise<Root> {
  const root = new pg.Client(`${url}/postgres`);
  await root.connect();
  const ask = (statement: string): Promise<unknown> => root.query(statement);
  await ask(`CREATE USER app PASSWORD 'first'`);
  await ask('CREATE DATABASE app OWNER app');
  const { rows } = await root.query<{ hba_file: string }>('SHOW hba_file');
  await ask(`COPY (VALUES ('local all all trust'), ('host all postgres all trust'), ('host all app all scram-sha-256'))
    TO '${rows[0]?.hba_file}'`);
  await ask('SELECT pg_reload_conf()');
  return {
    url: `${url.replace('postgres@', 'app@')}/app`,
    ask,
    async endSessions() {
      await ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'`);
    },
    close: () => root.end(),
  };
}

type Options = pgDriver.PostgresGuardOptions;

for (const server of ['mysql', 'mariadb', 'postgres'] as const)
  testOnOwn(server, `${server}: a guard asks for its password at each new connection`, async () => {
    const own = await ownServer(server);
    const root = await (server === 'postgres' ? postgresRoot : mysqlRoot)(own.url);
    try {
      const driver = server === 'postgres' ? pgDriver : mysqlDriver;
      const { url } = root;
      let current = 'first';
      const options: Options = { password: async () => await Promise.resolve(current), logger: false };
      const inTransaction = (): Promise<void> => driver.inRunTransaction(() => {});
      await driver.createTables(url, options);
      await using ofAddress = closing(await driver.createJobGuard(url, options));
      const dataSource = new DataSource({ type: server, url });
      await using ofDataSource = closing(await typeormDriver.createJobGuard(dataSource, options));
      for (const [guard, name] of [
        [ofAddress, 'address'],
        [ofDataSource, 'data-source'],
      ] as const) {
        const job = name === 'address' ? inTransaction : () => {};
        await guard.run({ ...JOB, name: `${name}-first` }, job);
        await root.ask(`ALTER USER app PASSWORD 'second'`);
        await root.endSessions();
        await eventually(async () => {
          const error: unknown = await guard
            .run({ ...JOB, name: `${name}-old` }, job)
            .catch((each: unknown) => each);
          return error instanceof LockStorageError && /^Cannot log in to (?!.*first)/.test(error.message);
        }, 'the old password is refused');
        current = 'second';
        assert.equal((await guard.run({ ...JOB, name: `${name}-second` }, job)).executed, true);
        await root.ask(`ALTER USER app PASSWORD 'first'`);
        current = 'first';
      }
    } finally {
      await root.close();
      await own.stop();
    }
  });

for (const [password, message] of [
  [() => Promise.reject(new Error('the metadata service is down')), /the metadata service is down/],
  [() => undefined as unknown as string, /option password must return a text, not undefined/],
  [() => new Promise<string>(() => {}), /option password did not return within 150 ms/],
] as const)
  void test(`a password that is not returned is a LockStorageError: ${message.source}`, async () => {
    const options: Options = { password, statementTimeout: '200ms', logger: false };
    for (const created of [
      mysqlDriver.createJobGuard('mysql://app@127.0.0.1:9/app', options),
      pgDriver.createJobGuard('postgres://app@127.0.0.1:9/app', options),
    ])
      await assert.rejects(created, { name: 'LockStorageError', message });
  });

void test('a password that nothing would call, or that is not a function, is refused without showing it', async () => {
  const password = (): string => 'secret';
  const shared = new pg.Pool({ connectionString: 'postgres://app@127.0.0.1:9/app' });
  const text = { password: 'secret' as unknown as () => string };
  for (const [created, message] of [
    [sqliteDriver.createJobGuard('sqlite:jobs.db', { password }), /cannot be used with SQLite/],
    [pgDriver.createJobGuard(shared, text), /must be a function that returns the password/],
    [pgDriver.createTables(shared, text), /must be a function that returns the password/],
  ] as const)
    await assert.rejects(created, (error: Error) => {
      assert.ok(error instanceof InvalidLockConfigurationError, String(error));
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  await shared.end();
});
