import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { testOnOwnServers } from '../../../support/benches/own-server';
import { sampleSize } from '../../../support/checks/sample-size';
import { lockRows } from '../../../support/databases/lock-table';
import { LockLoad } from '../../../support/jobs/lock-load';

const KILLS = sampleSize({ fast: 3, full: 34 });
const INSTANCES = 4;
const PATIENT = { statementTimeout: '5s' } as const;
/** Between two kills, at least. */
const GRANTS = 25;
const LONGEST_PAUSE_MS = 30;

/** Settings with which a server confirms a commit a moment before it is durable. */
const CARELESS = {
  mysql: ['SET GLOBAL innodb_flush_log_at_trx_commit = 0'],
  mariadb: ['SET GLOBAL innodb_flush_log_at_trx_commit = 0'],
  postgres: ['ALTER SYSTEM SET synchronous_commit = off', 'SELECT pg_reload_conf()'],
};
/** The moment may have passed before the kill. */
const MOST_ATTEMPTS = 8;

testOnOwnServers(
  `locks match the results that instances received after ${KILLS} kills or shutdowns of the server (F-30, F-31)`,
  async (bench) => {
    const { server, application } = bench;
    const instances = Array.from({ length: INSTANCES }, () => bench.provider(PATIENT, application));
    const load = new LockLoad(instances);
    try {
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await load.granted(GRANTS);
        await setTimeout(Math.random() * LONGEST_PAUSE_MS);
        await server.kill(kill % 3 === 0 ? 'SIGTERM' : 'SIGKILL');
        // After a lost connection, an instance retries, and the restarted server may answer in time.
        if (kill === 1) await load.failed();
        await server.restart();
      }
      await load.granted(GRANTS);
      await load.end();
      load.agreesWith(await lockRows(application));
    } finally {
      await load.end();
    }
  },
);

testOnOwnServers(
  'a grant that a killed server without durable commits loses is granted again with a higher token, and its holder notices (F-32, F-33)',
  async (bench) => {
    const { server, application } = bench;
    const [first, second] = [bench.provider(PATIENT, application), bench.provider(PATIENT, application)];
    const isForgotten = async (name: string): Promise<boolean> => {
      const administrator = await bench.administrator();
      for (const setting of CARELESS[bench.type]) await administrator.query(setting);
      const before = await first.lock({ name, lockAtMostFor: '1h' });
      await server.kill();
      await server.restart();
      const after = await second.lock({ name, lockAtMostFor: '1h' });
      if (after === undefined) return false;
      assert.ok(before && (after.fencingToken ?? 0) > (before.fencingToken ?? Infinity));
      assert.equal(await before.extend('1h'), false);
      assert.equal(before.signal.aborted, true);
      return true;
    };
    let attempts = 1;
    while (!(await isForgotten(`job-${attempts}`))) {
      attempts += 1;
      assert.ok(attempts <= MOST_ATTEMPTS, 'it has kept all of them');
    }
  },
);
