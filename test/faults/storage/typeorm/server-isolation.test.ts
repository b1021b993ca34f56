import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';
import { testOnServer, testOnServers, type ServerBench } from '../../../support/benches/server';
import { sampleSize } from '../../../support/checks/sample-size';
import { shiftBack } from '../../../support/databases/lock-table';
import { race } from '../../../support/jobs/race';

const LEVELS = ['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const;

const STATEMENTS = {
  mysql: { set: 'SET SESSION TRANSACTION', read: 'SELECT @@transaction_isolation AS level', extra: {} },
  mariadb: { set: 'SET SESSION TRANSACTION', read: 'SELECT @@tx_isolation AS level', extra: {} },
  postgres: {
    set: 'SET SESSION CHARACTERISTICS AS TRANSACTION',
    read: `SELECT current_setting('transaction_isolation') AS level`,
    // An unused connection stays open with its level.
    extra: { idleTimeoutMillis: 0 },
  },
};

const ASKERS = 20;
const ROUNDS = sampleSize({ fast: 20, full: 200 });

/** On every connection of the pool at once. */
async function onAll(application: DataSource, statement: string): Promise<{ level?: string }[]> {
  const runners = Array.from({ length: ASKERS }, () => application.createQueryRunner());
  try {
    const answers = await Promise.all(runners.map((runner) => runner.query(statement)));
    return answers.flat() as { level?: string }[];
  } finally {
    for (const runner of runners) await runner.release();
  }
}

async function askersRace(bench: ServerBench, application: DataSource): Promise<void> {
  const askers = Array.from({ length: ASKERS }, () => bench.provider({ connections: 'shared' }, application));
  for (const asker of askers) await asker.check();
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.all([race(askers, `new-${round}`), race(askers, 'expired')]);
    await shiftBack(bench.application, 120_000);
  }
}

for (const level of LEVELS) {
  testOnServers(
    `with shared connections at ${level}, one of ${ASKERS} callers gets a new lock, and one an expired lock (P1, F-47)`,
    async (bench) => {
      const { set, read, extra } = STATEMENTS[bench.server];
      const application = await bench.connected({ poolSize: ASKERS, extra });
      await onAll(application, `${set} ISOLATION LEVEL ${level}`);
      await askersRace(bench, application);
      const kept = (await onAll(application, read)).map((row) => row.level?.toUpperCase().replace('-', ' '));
      assert.deepEqual(kept, Array(ASKERS).fill(level));
    },
  );
}

for (const level of ['REPEATABLE READ', 'SERIALIZABLE'] as const) {
  // The server refuses a write of a row that has changed since the snapshot (1020).
  testOnServer(
    'mariadb',
    `the same with innodb_snapshot_isolation, at ${level} (P1, F-47)`,
    async (bench) => {
      const application = await bench.connected({ poolSize: ASKERS });
      await onAll(application, 'SET SESSION innodb_snapshot_isolation = ON');
      await onAll(application, `${STATEMENTS.mariadb.set} ISOLATION LEVEL ${level}`);
      await askersRace(bench, application);
      const kept = await onAll(application, 'SELECT @@innodb_snapshot_isolation AS level');
      assert.deepEqual(
        kept.map((row) => Number(row.level)),
        Array(ASKERS).fill(1),
      );
    },
  );
}
