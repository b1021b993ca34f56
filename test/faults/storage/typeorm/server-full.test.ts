import assert from 'node:assert/strict';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import { nextEvent } from '../../../support/benches/guard';
import { testOnOwnServers } from '../../../support/benches/own-server';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

/**
 * The server accepts no further connections of the application; later any number. With less than 10, MariaDB
 * has 10.
 */
const STATEMENTS = {
  mysql: { close: 'SET GLOBAL max_connections = 1', open: 'SET GLOBAL max_connections = 100' },
  mariadb: { close: 'SET GLOBAL max_connections = 1', open: 'SET GLOBAL max_connections = 100' },
  postgres: { close: 'ALTER ROLE app CONNECTION LIMIT 0', open: 'ALTER ROLE app CONNECTION LIMIT 100' },
};

testOnOwnServers(
  'if a server accepts no further connections, new instances fail with its error, and connected ones continue (F-45)',
  async (bench) => {
    const { application, guard, type } = bench;
    assert.equal((await guard.run(JOB, () => {})).executed, true);
    const administrator = await bench.administrator();
    const others = Array.from({ length: 10 }, () => application.createQueryRunner());
    for (const other of others) await other.connect();
    await administrator.query(STATEMENTS[type].close);
    const late = await createJobGuard(application, { lazy: true, logger: false, statementTimeout: '2s' });
    const tick = late.wrap(JOB, () => 'ran');
    try {
      const failed = nextEvent(late, 'lock:failed');
      assert.equal(await tick(), undefined);
      const { error } = await failed;
      assert.ok(error instanceof LockStorageError);
      assert.equal(error.outcome, 'nothing-ran');
      assert.match(error.message, /too many connections/i);
      assert.equal((await guard.run(JOB, () => {})).executed, true);
      await administrator.query(STATEMENTS[type].open);
      assert.equal(await tick(), 'ran');
    } finally {
      await late.close();
      for (const other of others) await other.release();
      await administrator.destroy();
    }
  },
);
