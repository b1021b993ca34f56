import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { type LockConfiguration, LockStorageError } from 'cronlatch';
import { createJobGuard, inRunTransaction } from 'cronlatch/typeorm';
import { systemClock, type Clock, type LockProvider } from 'cronlatch/provider';
import { DataSource } from 'typeorm';
import { testOnServers, type ServerBench } from '../../../support/benches/server';
import { eventually } from '../../../support/clocks/eventually';
import {
  type ServerName,
  databaseOn,
  testOnEveryServer,
  type Administrator,
} from '../../../support/databases/fresh';
import { targetOf, tcpProxy, throughProxy, type TcpProxy } from '../../../support/faults/tcp-proxy';
import { testOnOwnServers } from '../../../support/benches/own-server';
import { lockRows } from '../../../support/databases/lock-table';
import { sampleSize } from '../../../support/checks/sample-size';
import { race } from '../../../support/jobs/race';
import { closing } from '../../../support/benches/closing';
import { ledgerDataSource } from '../../../support/databases/run-tables';
import { nextEvent } from '../../../support/benches/guard';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

testOnServers('closing while locks are requested leaves no connection open', async (bench) => {
  await bench.application.destroy();
  const provider = bench.provider();
  await (await provider.lock(JOB))?.unlock();
  const names = Array.from({ length: 6 }, (_, i) => `job-${i}`);
  const asked = Promise.allSettled(names.map((name) => provider.lock({ ...JOB, name })));
  await provider.close();
  await asked;
  await eventually(async () => (await bench.stranger.countSessions()) === 0, 'no connection is left');
});

/** Not SLEEP, because the server ends a SLEEP when its client has gone. */
const ON_MYSQL = [
  `CREATE TRIGGER slow BEFORE UPDATE ON shedlock FOR EACH ROW
    BEGIN DECLARE i INT DEFAULT 0; WHILE i < 50000000 DO SET i = i + 1; END WHILE; END`,
];

/** From now on, writing a row takes many seconds, without waiting for a lock. */
const SLOW: Readonly<Record<ServerName, readonly string[]>> = {
  mysql: ON_MYSQL,
  mariadb: ON_MYSQL,
  postgres: [
    `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(30); RETURN NEW; END $$`,
    'CREATE TRIGGER slow BEFORE UPDATE ON shedlock FOR EACH ROW EXECUTE FUNCTION slow()',
  ],
};

const ACTIVE_ON_POSTGRES = `
  SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'`;

testOnServers('the server stops a statement that its client has abandoned', async (bench) => {
  const provider = bench.provider({ statementTimeout: '1s' });
  await (await provider.lock({ name: 'job', lockAtMostFor: '1m' }))?.unlock();
  for (const text of SLOW[bench.server]) await bench.application.query(text);
  await assert.rejects(provider.lock({ name: 'job', lockAtMostFor: '1m' }), { code: 'CRONLATCH_STORAGE' });
  const isQuiet = async (): Promise<boolean> => {
    if (bench.server !== 'postgres') return !(await bench.stranger.isAnySessionBusy());
    const busy = await bench.database.ask(ACTIVE_ON_POSTGRES);
    return busy.length === 0;
  };
  await eventually(isQuiet, 'the server has ended the statement');
});

const LEASES = ['10s', '30s', '10m'] as const;
const FORGOTTEN = ['all', 'first', 'last'] as const;

/** The time of the machine, in which a night can pass at once. */
class ShiftedClock implements Clock {
  #aheadMs = 0;
  monotonicMs = (): number => systemClock.monotonicMs() + this.#aheadMs;
  wallMs = (): number => systemClock.wallMs();
  schedule = systemClock.schedule.bind(systemClock);
  pass(milliseconds: number): void {
    this.#aheadMs += milliseconds;
  }
}

/** A guard through a proxy, whose two connections were both used. */
async function connected(bench: ServerBench, clock: Clock) {
  const { url } = bench.database;
  const proxy: TcpProxy = await tcpProxy(targetOf(url));
  const dataSource = bench.dataSource({ url: throughProxy(url, proxy) });
  const guard = bench.closeAtEnd(
    await createJobGuard(dataSource, { clock, logger: false, pollInterval: false }),
  );
  bench.closeAtEnd(proxy); // Before its guard, which would wait for the connections that are forgotten.
  const lock = await guard.lockManager().tryLock({ name: `first of ${proxy.port}`, lockAtMostFor: '10m' });
  await Promise.all([
    lock?.extend('10m') ?? assert.fail('the lock is held'),
    guard.run({ name: `second of ${proxy.port}`, lockAtMostFor: '10m' }, () => {}),
  ]);
  await lock?.unlock();
  return { proxy, guard };
}

testOnServers(
  'a tick runs, although a firewall has forgotten idle connections of the guard (F-40)',
  async (bench) => {
    const night = async (lockAtMostFor: string, which: (typeof FORGOTTEN)[number]): Promise<void> => {
      const clock = new ShiftedClock();
      const { proxy, guard } = await connected(bench, clock);
      const name = `${lockAtMostFor} ${which}`;
      for (const tick of ['first night', 'second night']) {
        clock.pass(6000);
        proxy.forget(which);
        const result = await guard.run({ name, lockAtMostFor }, () => tick);
        assert.deepEqual(result, { executed: true, value: tick }, name);
      }
    };
    await Promise.all(LEASES.flatMap((lease) => FORGOTTEN.map((which) => night(lease, which))));
  },
);

testOnOwnServers(
  'on a server that switches off autocommit for all sessions, a lock is committed (F-48)',
  async (bench) => {
    // init_connect does not apply to it.
    const administrator = await bench.administrator();
    await administrator.query(`SET GLOBAL init_connect = 'SET autocommit = 0'`);
    const application = await bench.connected();
    const [settings] = await application.query<{ off: unknown }[]>('SELECT @@autocommit = 0 AS off');
    assert.equal(Number(settings?.off), 1);
    const lock = await bench.provider({}, application).lock(JOB);
    assert.deepEqual(
      await administrator.query(`SELECT name FROM app.shedlock WHERE name <> 'cronlatch-place'`),
      [{ name: 'job' }],
    );
    assert.equal(await lock?.unlock(), true);
    const rows = await lockRows(bench.application);
    assert.deepEqual(
      rows.map(({ held }) => held),
      [false],
    );
  },
  ['mysql', 'mariadb'],
);

const ASKERS = 8;
const NAMES = sampleSize({ fast: 200, full: 1000 });
const ROLLED_BACK = sampleSize({ fast: 10, full: 100 });

async function checkedAskers(bench: ServerBench): Promise<LockProvider[]> {
  const askers = Array.from({ length: ASKERS }, () => bench.provider());
  for (const asker of askers) await asker.check();
  return askers;
}

testOnServers(
  `of ${ASKERS} processes that insert the first row of a lock at once, one gets the lock, ${NAMES} times (F-46)`,
  async (bench) => {
    const askers = await checkedAskers(bench);
    const tokens = new Map<string, number | undefined>();
    for (let i = 0; i < NAMES; i += 1) tokens.set(`new-${i}`, (await race(askers, `new-${i}`)).fencingToken);
    const rows = await lockRows(bench.application);
    assert.deepEqual(new Map(rows.map(({ name, token }) => [name, token])), new Map([...tokens].sort()));
    assert.ok(rows.every(({ held }) => held));
  },
);

testOnServers(
  `after the first insert of another session is rolled back, one of ${ASKERS} waiting instances gets the lock (F-46)`,
  async (bench) => {
    const askers = await checkedAskers(bench);
    const { ask } = bench.database;
    const now = bench.server === 'postgres' ? 'now()' : 'UTC_TIMESTAMP(6)';
    for (let i = 0; i < ROLLED_BACK; i += 1) {
      await ask('START TRANSACTION');
      await ask(
        `INSERT INTO shedlock (name, locked_by, locked_at, lock_until) VALUES ('new-${i}', 'crashed', ${now}, ${now})`,
      );
      const racing = race(askers, `new-${i}`);
      racing.catch(() => {}); // Awaited below.
      await eventually(() => bench.stranger.isAnySessionBusy(), 'an instance waits for the row');
      await ask('ROLLBACK');
      await racing;
    }
    const rows = await lockRows(bench.application);
    assert.deepEqual([rows.length, rows.every(({ held }) => held)], [ROLLED_BACK, true]);
  },
);

const DAILY = {
  ...{ name: 'job', lockAtMostFor: '10m' },
  oncePer: { period: () => 'today', timeZone: 'UTC' },
} as const;

testOnEveryServer(
  'a run is completed in a transaction of a session that was left in another schema (L6, F-57)',
  async (server) => {
    await using database = closing(await databaseOn(server));
    const tenant = server === 'postgres' ? 'tenant' : `${database.name}_tenant`;
    const root: Administrator = database.root;
    await root.query(`CREATE SCHEMA ${tenant}`);
    await using application = closing(await ledgerDataSource(database, { poolSize: 1 }));
    await using guard = closing(await createJobGuard(application, { logger: false, pollInterval: false }));
    try {
      // The tenant has tables of the same names.
      for (const table of ['cronlatch_run', 'cronlatch_run_event'])
        await root.query(
          server === 'postgres'
            ? `CREATE TABLE ${tenant}.${table} (LIKE public.${table} INCLUDING ALL)`
            : `CREATE TABLE ${tenant}.${table} LIKE ${table}`,
        );
      await application.query(server === 'postgres' ? `SET search_path = ${tenant}` : `USE ${tenant}`);
      const result = await guard.run(DAILY, () => inRunTransaction(() => Promise.resolve('paid')));
      assert.deepEqual(result, { executed: true, value: 'paid' });
      const run = await guard.ledger.get({ job: 'job', periodKey: 'today' });
      assert.deepEqual([run?.state, run?.attempt], ['completed', 1]);
    } finally {
      if (server !== 'postgres') await root.query(`DROP SCHEMA ${tenant}`);
    }
  },
);

function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

const GOODBYE = 'terminating connection due to administrator command';
const WELCOME_AND_GOODBYE = Buffer.concat([
  message('R', Buffer.alloc(4)), // authenticated
  message('Z', Buffer.from('I')), // ready for statements
  message('E', Buffer.from(`SFATAL\0VFATAL\0C57P01\0M${GOODBYE}\0\0`)),
]);

/** A server that shuts down just after it has authenticated a client, and reports both in one packet. */
async function closingServer(): Promise<{ url: string; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // The client may have disconnected first.
    socket.once('data', () => socket.end(WELCOME_AND_GOODBYE));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `postgres://app@127.0.0.1:${(server.address() as AddressInfo).port}/app`,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

void test('a PostgreSQL that shuts down in the same packet that admits the client fails the tick and not the process (F-30)', async () => {
  await using server = closing(await closingServer());
  const dataSource = new DataSource({ type: 'postgres', url: server.url });
  await using guard = closing(
    await createJobGuard(dataSource, { lazy: true, logger: false, statementTimeout: '1s' }),
  );
  for (let tick = 1; tick <= 3; tick += 1) {
    const failed = nextEvent(guard, 'lock:failed');
    await assert.rejects(
      guard.run({ name: 'job', lockAtMostFor: '1m' }, () => assert.fail('ran')),
      (error) => error instanceof LockStorageError && error.outcome === 'nothing-ran',
    );
    await failed;
  }
});
