import assert from 'node:assert/strict';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { nextEvent } from '../../../support/benches/guard';
import { testOnOwnServers } from '../../../support/benches/own-server';
import { lockRows } from '../../../support/databases/lock-table';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

testOnOwnServers(
  'a server that is shut down or killed, and comes back, costs only the ticks in between, without a restart of the application (F-30, F-31)',
  async ({ server, application, guard }) => {
    const tick = guard.wrap(JOB, () => 'ran');
    assert.equal(await tick(), 'ran');
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await server.kill(signal);
      const failed = nextEvent(guard, 'lock:failed');
      assert.equal(await tick(), undefined);
      assert.ok((await failed).error instanceof LockStorageError);
      await server.restart();
      assert.equal(await tick(), 'ran');
      const [row] = await lockRows(application);
      assert.equal(row?.held, false);
    }
  },
);

testOnOwnServers(
  'a job that continues while the server is killed keeps its lease, and releases it (F-31)',
  async ({ server, application, guard }) => {
    // The library's own timers do not keep the process alive, and while the server is down nothing else does.
    const alive = setInterval(() => {}, 60_000);
    try {
      const renewing: LockConfiguration = { ...JOB, lockAtMostFor: '30s', keepAlive: '500ms' };
      const result = await guard.run(renewing, async ({ signal }) => {
        const warned = nextEvent(guard, 'guard:warning');
        await server.kill();
        const { message } = await warned;
        const renewed = nextEvent(guard, 'lock:extended');
        await server.restart();
        await renewed;
        return [message, signal.aborted] as const;
      });
      assert.ok(result.executed);
      const [warning, isLost] = result.value;
      assert.match(warning, /'job' could not be renewed/);
      assert.equal(isLost, false);
      const [row] = await lockRows(application);
      assert.equal(row?.held, false);
    } finally {
      clearInterval(alive);
    }
  },
);
