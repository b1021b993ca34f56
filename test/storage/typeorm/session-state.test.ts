import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { Random } from '#cronlatch/contracts/random';
import { type JobConfiguration } from 'cronlatch';
import { createJobGuard, inRunTransaction, TypeOrmLockProvider, TypeOrmRunStore } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { leaveSessions } from '../../support/databases/dirty-sessions';
import {
  databaseOn,
  testOn,
  testOnEveryServer,
  type Administrator,
  type ServerName,
} from '../../support/databases/fresh';
import { lockRows } from '../../support/databases/lock-table';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { CLAIM, LIMIT, RUNNING } from '../../support/jobs/runs';

const JOB = { name: 'job', lockAtMostFor: '10m' } as const;
const DAILY = {
  ...JOB,
  oncePer: { period: () => 'today', timeZone: 'UTC', retry: { maxAttempts: 2, initialDelay: 0 } },
} as const satisfies JobConfiguration;

interface Tenancy {
  /** Connected to the database that holds the tables. */
  readonly application: DataSource;
  /** The same, for another process. */
  readonly another: DataSource;
  /** Leaves the sessions of a pool in the schema of a tenant, which has tables of the same names. */
  readonly enterTenant: (dataSource: DataSource) => Promise<void>;
}

async function withTenant(server: ServerName, body: (tenancy: Tenancy) => Promise<void>): Promise<void> {
  const database = await databaseOn(server);
  const tenant = server === 'postgres' ? 'tenant' : `${database.name}_tenant`;
  const root: Administrator = database.root;
  await root.query(`CREATE SCHEMA ${tenant}`);
  const enter = server === 'postgres' ? `SET search_path = ${tenant}` : `USE ${tenant}`;
  const application = await ledgerDataSource(database, { poolSize: 2 });
  const another = await new DataSource({ ...database.options, extra: {} }).initialize();
  try {
    for (const table of ['shedlock', 'cronlatch_run', 'cronlatch_run_event'])
      await root.query(
        server === 'postgres'
          ? `CREATE TABLE ${tenant}.${table} (LIKE public.${table} INCLUDING ALL)`
          : `CREATE TABLE ${tenant}.${table} LIKE ${table}`,
      );
    await body({ application, another, enterTenant: (pool) => leaveSessions(pool, [enter]) });
  } finally {
    await application.destroy();
    await another.destroy();
    if (server !== 'postgres') await root.query(`DROP SCHEMA ${tenant}`);
    await database.dispose();
  }
}

testOnEveryServer(
  'a lock has one holder, also on sessions that were left in another schema (P1, F-57)',
  (server) =>
    withTenant(server, async ({ application, another, enterTenant }) => {
      const [own, known, late] = [
        new TypeOrmLockProvider(another),
        new TypeOrmLockProvider(application, { connections: 'shared' }),
        new TypeOrmLockProvider(application, { connections: 'shared' }),
      ];
      try {
        assert.deepEqual(await known.verifySchema(), []);
        assert.equal(await (await known.lock(JOB))?.unlock(), true);
        const lock = await own.lock(JOB);
        assert.ok(lock);
        await enterTenant(application);
        // One provider has found the table before, and the other looks for it on such a session.
        assert.equal(await known.lock(JOB), undefined);
        assert.equal(await late.lock(JOB), undefined);
        assert.equal(await lock.unlock(), true);
        const next = await late.lock(JOB);
        assert.equal(await own.lock(JOB), undefined);
        assert.equal(await next?.extend('20m'), true);
        assert.equal(await next?.unlock(), true);
      } finally {
        await Promise.all([own.close(), known.close(), late.close()]);
      }
    }),
);

testOnEveryServer(
  'a run is recorded once, also on sessions that were left in another schema (L1)',
  (server) =>
    withTenant(server, async ({ application, another, enterTenant }) => {
      const own = new TypeOrmRunStore(another);
      const shared = new TypeOrmRunStore(application, { connections: 'shared' });
      try {
        await enterTenant(application);
        assert.equal(await own.insert(RUNNING, LIMIT), true);
        assert.equal(await shared.insert(RUNNING, LIMIT), false);
        assert.equal(await shared.complete(CLAIM, 'done', LIMIT), true);
        assert.equal((await own.find({ order: 'oldest-first', limit: 2 }, LIMIT))[0]?.state, 'completed');
      } finally {
        await Promise.all([own.close(), shared.close()]);
      }
    }),
);

testOnEveryServer(
  'a run is completed in a transaction of a session that was left in another schema (L6)',
  (server) =>
    withTenant(server, async ({ application, enterTenant }) => {
      await using guard = closing(await createJobGuard(application, { logger: false, pollInterval: false }));
      await enterTenant(application);
      const result = await guard.run(DAILY, () => inRunTransaction(() => Promise.resolve('paid')));
      assert.deepEqual(result, { executed: true, value: 'paid' });
      const run = await guard.ledger.get({ job: JOB.name, periodKey: 'today' });
      assert.deepEqual([run?.state, run?.attempt], ['completed', 1]);
    }),
);

/** Changes that other code of the application leaves in a session. */
const HABITS: Readonly<Record<ServerName, readonly string[]>> = {
  mysql: ['SET timestamp = UNIX_TIMESTAMP() + 86400', 'SET timestamp = UNIX_TIMESTAMP() - 86400'],
  mariadb: ['SET timestamp = UNIX_TIMESTAMP() + 86400', 'SET timestamp = UNIX_TIMESTAMP() - 86400'],
  postgres: [`SET TIME ZONE 'Asia/Kolkata'`, 'CREATE TEMP TABLE IF NOT EXISTS shedlock (name text)'],
};

testOnEveryServer("under load, in any state of the application's sessions (P1, P3)", (server) =>
  withTenant(server, async ({ application, another, enterTenant }) => {
    const random = new Random(20_261_122);
    const pools = [application, another];
    const providers = [
      new TypeOrmLockProvider(another),
      ...pools.flatMap((pool) => [1, 2].map(() => new TypeOrmLockProvider(pool, { connections: 'shared' }))),
    ];
    let inside = 0;
    const tokens: number[] = [];
    const attempt = async (provider: TypeOrmLockProvider): Promise<void> => {
      const lock = await provider.lock(JOB);
      if (lock === undefined) return;
      inside += 1;
      assert.equal(inside, 1);
      tokens.push(lock.fencingToken ?? 0);
      await new Promise(setImmediate);
      inside -= 1;
      await lock.unlock();
    };
    const spoil = async (): Promise<void> => {
      const pool = random.pick(pools);
      if (random.integer(1, 2) === 1) await enterTenant(pool);
      else await leaveSessions(pool, [random.pick(HABITS[server])], 1);
    };
    /** MySQL refuses statements in a session whose clock was set. */
    const mayBeRefused = (error: unknown): void => {
      if (server !== 'mysql' || !/SET timestamp/.test(String(error))) throw error;
    };
    try {
      for (let round = 1; round <= 60; round += 1) {
        await spoil();
        await Promise.all(providers.map((provider) => attempt(provider).catch(mayBeRefused)));
      }
      assert.ok(tokens.length >= 30, String(tokens.length));
      const rising = [...new Set(tokens)].sort((one, other) => one - other);
      assert.deepEqual(tokens, rising);
    } finally {
      await Promise.all(providers.map((provider) => provider.close()));
    }
  }),
);

const HOURS_24 = 24 * 3600;

for (const server of ['mysql', 'mariadb'] as const) {
  for (const [clock, seconds] of [
    ['behind', -HOURS_24],
    ['ahead', HOURS_24],
  ] as const) {
    testOn(server, `a lock has one holder, also on sessions whose clock was set ${clock} (P1, F-29)`, () =>
      withTenant(server, async ({ application, another }) => {
        const own = new TypeOrmLockProvider(another);
        const shared = new TypeOrmLockProvider(application, { connections: 'shared' });
        try {
          await own.lock({ ...JOB, name: 'any' });
          await shared.check(); // It reads the place of the locks in a session with the right clock.
          await leaveSessions(application, [`SET timestamp = UNIX_TIMESTAMP() + ${seconds}`]);
          const lock = await own.lock(JOB);
          assert.ok(lock);
          if (server === 'mysql') {
            // MySQL cannot override the session's clock, so the statement fails, and its session ends.
            for (let sessions = 1; sessions <= 2; sessions += 1)
              await assert.rejects(shared.lock(JOB), {
                code: 'CRONLATCH_STORAGE',
                message: /the clock of this session is not that of the server: SET timestamp/,
              });
          }
          assert.equal(await shared.lock(JOB), undefined);
          assert.equal(await lock.unlock(), true);
          const next = await shared.lock(JOB);
          assert.ok(next?.fencingToken && lock.fencingToken && next.fencingToken > lock.fencingToken);
          assert.equal(await own.lock(JOB), undefined);
          assert.equal(await next.extend('20m'), true);
          const row = (await lockRows(another)).find(({ name }) => name === JOB.name);
          assert.equal(row?.held, true);
          assert.ok(row.lockUntilUs / 1000 - Date.now() < HOURS_24 * 500);
          assert.equal(await next.unlock(), true);
          assert.ok(await own.lock(JOB));
        } finally {
          await Promise.all([own.close(), shared.close()]);
        }
      }),
    );

    // MySQL cannot override the clock for one statement without harm to the session.
    if (server === 'mysql') continue;
    testOn(server, `a run has the times of the server on sessions whose clock was set ${clock}`, () =>
      withTenant(server, async ({ application, another }) => {
        await using guard = closing(await createJobGuard(another, { logger: false, pollInterval: false }));
        await leaveSessions(another, [`SET timestamp = UNIX_TIMESTAMP() + ${seconds}`], 10);
        await guard.run(DAILY, () => inRunTransaction(() => Promise.resolve('paid')));
        const [row] = await application.query<{ off: unknown }[]>(
          `SELECT ABS(TIMESTAMPDIFF(HOUR, finished_at, UTC_TIMESTAMP())) + ABS(TIMESTAMPDIFF(HOUR, updated_at, UTC_TIMESTAMP())) AS off
             FROM cronlatch_run WHERE state = 'completed'`,
        );
        assert.equal(Number(row?.off), 0);
      }),
    );
  }
}
