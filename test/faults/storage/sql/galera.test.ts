/** Instances whose connections end on different nodes of a cluster, while a batch keeps one of the nodes behind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobGuard } from 'cronlatch';
import { createJobGuard, createTables } from 'cronlatch/mysql2';
import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise';
import { closing } from '../../../support/benches/closing';
import { runningJob } from '../../../support/benches/guard';
import { targetOf, tcpProxy, throughProxy } from '../../../support/faults/tcp-proxy';
import { galeraCluster } from '../../../support/servers/own';
import { withStarted } from '../../../support/servers/test-on';

const INSTANCES = 3;
const JOBS = 25;
const NIGHTS = 8;
const DAYS = 12;
const BATCH_ROWS = 40_000;
/** On a busy machine, the nodes answer late. */
const GUARD = { logger: false, pollInterval: false, statementTimeout: '30s' } as const;

interface Cluster {
  readonly guards: readonly JobGuard[];
  /** Of the database, on each node. */
  readonly addresses: readonly string[];
  readonly operator: Connection;
}

/** A test with instances behind a proxy that hands each new connection to the next node. */
function testOnCluster(name: string, body: (cluster: Cluster) => Promise<void>): void {
  void test(`galera: ${name}`, (t) =>
    withStarted(t, 'Galera cluster', galeraCluster, async ({ urls }) => {
      const guards: JobGuard[] = [];
      const [first = ''] = urls;
      await using proxy = closing(await tcpProxy(urls.map(targetOf)));
      await using operator = closing(await mysql.createConnection(first));
      try {
        await operator.query('CREATE DATABASE night');
        await operator.query('USE night');
        // A plain read may miss what another node has committed.
        await operator.query('SET SESSION wsrep_sync_wait = 1');
        await createTables(`${first}/night`);
        for (let instance = 0; instance < INSTANCES; instance += 1)
          guards.push(await createJobGuard(throughProxy(`${first}/night`, proxy), GUARD));
        await using _batch = closing(await runBatch(first));
        await body({ guards, addresses: urls.map((url) => `${url}/night`), operator });
      } finally {
        await Promise.all(guards.map((guard) => guard.close({ timeout: '10s' })));
      }
    }));
}

/** Inserts and deletes many rows on one node, so that the other one applies all writes late. */
async function runBatch(url: string): Promise<{ stop: () => Promise<void> }> {
  const connection = await mysql.createConnection(`${url}/night`);
  await connection.query('CREATE TABLE batch (id INT PRIMARY KEY, text CHAR(100) NOT NULL)');
  let isStopped = false;
  const run = async (): Promise<void> => {
    while (!isStopped) {
      await connection.query(`INSERT INTO batch SELECT seq, 'x' FROM seq_1_to_${BATCH_ROWS}`);
      await connection.query('DELETE FROM batch');
    }
    await connection.end();
  };
  const running = run();
  return {
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
}

const INDEXES = Array.from({ length: JOBS }, (_, index) => index);

testOnCluster(
  'each job of a night runs once, and every lock is released (F-78)',
  async ({ guards, operator }) => {
    const runs = new Map<string, number>();
    const problems: string[] = [];
    for (const guard of guards) {
      guard.on(
        'lock:releaseFailed',
        ({ name, error }) => void problems.push(`${name} stuck: ${String(error)}`),
      );
      guard.on('lock:released', ({ name, stillOurs }) => void (stillOurs || problems.push(`${name} lost`)));
    }
    const held: string[] = [];
    for (let night = 1; night <= NIGHTS; night += 1) {
      const names = INDEXES.map((index) => `night-${night}-job-${index}`);
      // The rows of every other night are there already, as in any night but the first one.
      if (night % 2 === 0)
        await operator.query(
          'INSERT INTO shedlock (name, lock_until, locked_at, locked_by) SELECT name, now, now, ? FROM JSON_TABLE(?, "$[*]" COLUMNS (name VARCHAR(64) PATH "$")) AS names, (SELECT UTC_TIMESTAMP(6) AS now) AS clock',
          ['seed', JSON.stringify(names)],
        );
      const work = (name: string) => (): void => void runs.set(name, (runs.get(name) ?? 0) + 1);
      await Promise.all(
        guards.flatMap((guard) =>
          names.map((name) =>
            guard.run({ name, lockAtMostFor: '10m', lockAtLeastFor: '5m' }, work(name)).catch(() => {}),
          ),
        ),
      );
      const [rows] = await operator.query<RowDataPacket[]>(
        `SELECT name FROM shedlock WHERE name LIKE 'night-${night}-%' AND locked_by NOT LIKE '%/released'`,
      );
      held.push(...rows.map(({ name }) => String(name)));
    }
    const counts = [...runs.values()];
    assert.deepEqual(
      { runs: counts.length, twice: counts.filter((count) => count > 1).length, held, problems },
      { runs: JOBS * NIGHTS, twice: 0, held: [], problems: [] },
    );
  },
);

testOnCluster(
  'a run that crashed on one node is taken over on another one when its lock is free (F-78)',
  async ({ addresses, operator }) => {
    const [crashing, other] = await Promise.all(
      addresses.slice(0, 2).map((address) => createJobGuard(address, GUARD)),
    );
    assert.ok(crashing && other);
    const once = {
      name: 'crashing',
      lockAtMostFor: '10m',
      keepAlive: true,
      oncePer: { period: 'day', timeZone: 'UTC' },
    } as const;
    try {
      const job = await runningJob(crashing, once);
      await crashing.close({ timeout: 0 });
      await operator.query(`UPDATE shedlock SET lock_until = UTC_TIMESTAMP(6) WHERE name = 'crashing'`);
      assert.deepEqual(await other.run(once, () => 'again'), { executed: true, value: 'again' });
      job.finish();
    } finally {
      await Promise.all([crashing.close(), other.close()]);
    }
  },
);

testOnCluster('each day of a once-per-day job is done once (F-78)', async ({ guards }) => {
  const effects = new Map<string, number>();
  const failures: string[] = [];
  for (let day = 1; day <= DAYS; day += 1) {
    const at = new Date(Date.UTC(2026, 10, day, 3));
    await Promise.all(
      guards.flatMap((guard) =>
        INDEXES.map(async (index) => {
          const name = `day-job-${index}`;
          const key = `${name} ${day}`;
          const once = {
            name,
            lockAtMostFor: '10m',
            oncePer: { period: 'day', timeZone: 'UTC' },
            at,
          } as const;
          await guard
            .run(once, () => void effects.set(key, (effects.get(key) ?? 0) + 1))
            .catch((error: unknown) => void failures.push(`${key}: ${String(error)}`));
        }),
      ),
    );
  }
  const counts = [...effects.values()];
  assert.deepEqual(
    { days: counts.length, twice: counts.filter((count) => count > 1).length, failures },
    { days: JOBS * DAYS, twice: 0, failures: [] },
  );
});
