import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { testOnOwnServers } from '../../../support/benches/own-server';
import { sampleSize } from '../../../support/checks/sample-size';
import { shiftBack } from '../../../support/databases/lock-table';
import { race } from '../../../support/jobs/race';

const LEVELS = ['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const;

type Level = (typeof LEVELS)[number];

/** How the sessions of a server get a default level, and how they read it. */
const STATEMENTS = {
  mysql: {
    set: (level: Level) => [`SET GLOBAL TRANSACTION ISOLATION LEVEL ${level}`],
    read: 'SELECT @@transaction_isolation AS level',
  },
  mariadb: {
    // The server then refuses a write of a row that has changed since the snapshot (1020).
    set: (level: Level) => [
      `SET GLOBAL TRANSACTION ISOLATION LEVEL ${level}`,
      'SET GLOBAL innodb_snapshot_isolation = ON',
    ],
    read: 'SELECT @@tx_isolation AS level',
  },
  postgres: {
    set: (level: Level) => [
      `ALTER DATABASE app SET default_transaction_isolation = '${level.toLowerCase()}'`,
    ],
    read: `SELECT current_setting('transaction_isolation') AS level`,
  },
};

const ASKERS = 20;
const ROUNDS = sampleSize({ fast: 20, full: 200 });

testOnOwnServers(
  `on a server with any default isolation level, one of ${ASKERS} callers gets a new lock, and one an expired lock (P1, F-47)`,
  async (bench) => {
    const { application, type } = bench;
    const { set, read } = STATEMENTS[type];
    const administrator = await bench.administrator();
    for (const level of LEVELS) {
      for (const statement of set(level)) await administrator.query(statement);
      const fresh = await new DataSource(application.options).initialize();
      const [shown] = await fresh.query<{ level: string }[]>(read);
      await fresh.destroy();
      assert.equal(shown?.level.toUpperCase().replace('-', ' '), level);
      const askers = Array.from({ length: ASKERS }, () => bench.provider({}, application));
      for (const asker of askers) await asker.check();
      for (let round = 0; round < ROUNDS; round += 1) {
        await Promise.all([race(askers, `new-${level}-${round}`), race(askers, 'expired')]);
        await shiftBack(application, 120_000);
      }
    }
  },
);
