import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { nextEvent } from '../../support/benches/guard';
import { testOnServer, testOnServers } from '../../support/benches/server';
import { eventually } from '../../support/clocks/eventually';
import { withUser, type DatabaseUser } from '../../support/databases/user';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };
const MAY = 'SELECT, INSERT, UPDATE';

/** The private PostgreSQL requires no password, but it can refuse a user. */
const STATEMENTS = {
  mysql: {
    revoke: (account: string) => `ALTER USER ${account} IDENTIFIED BY 'rotated'`,
    restore: (account: string) => `ALTER USER ${account} IDENTIFIED BY 'hunter2'`,
    refusal: /Access denied/,
  },
  postgres: {
    revoke: (account: string) => `ALTER ROLE ${account} NOLOGIN`,
    restore: (account: string) => `ALTER ROLE ${account} LOGIN`,
    refusal: /is not permitted to log in/,
  },
};

testOnServers(
  "with changed credentials an instance's ticks fail when it reconnects, and succeed again when the credentials are right (F-54)",
  async (bench) => {
    await bench.application.destroy();
    const { ask } = bench.database;
    const statements = STATEMENTS[bench.server === 'postgres' ? 'postgres' : 'mysql'];
    await withUser(bench.server, bench.database, async ({ account, url }) => {
      await ask(`GRANT ${MAY} ON shedlock TO ${account}`);
      const options = { logger: false, statementTimeout: '1s' } as const;
      await using guard = closing(await createJobGuard(bench.dataSource({ url }), options));
      const tick = guard.wrap(JOB, () => 'ran');
      assert.equal(await tick(), 'ran');
      await ask(statements.revoke(account));
      assert.equal(await tick(), 'ran', 'open connections stay open');
      await bench.stranger.killSessions();
      let error: unknown;
      const isRefused = async (): Promise<boolean> => {
        const failed = nextEvent(guard, 'lock:failed');
        assert.equal(await tick(), undefined);
        ({ error } = await failed);
        assert.ok(error instanceof LockStorageError);
        // Not the first time, if the statement was sent before the end of its connection was noticed.
        return error.outcome === 'nothing-ran';
      };
      await eventually(isRefused, 'a new connection is refused');
      assert.ok(error instanceof LockStorageError);
      assert.match(error.message, statements.refusal);
      assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`, /hunter2/);
      await ask(statements.restore(account));
      assert.equal(await tick(), 'ran');
    });
  },
);

// The other private servers have no certificates.
testOnServer(
  'mysql',
  'a user who must use TLS gets locks with the TLS options of the application, and an error without them (F-54)',
  async (bench) => {
    const assertNeedsTls = async ({ account, url }: DatabaseUser): Promise<void> => {
      await bench.database.ask(`GRANT ${MAY} ON shedlock TO ${account}`);
      await assert.rejects(
        createJobGuard(bench.dataSource({ url })),
        (error) => error instanceof LockStorageError && /Access denied/.test(error.message),
      );
      const dataSource = new DataSource({ type: 'mysql', url, ssl: { rejectUnauthorized: false } });
      const guard = await createJobGuard(dataSource);
      assert.equal((await guard.run(JOB, () => {})).executed, true);
      await guard.close();
    };
    await withUser(bench.server, bench.database, assertNeedsTls, 'REQUIRE SSL');
  },
);
