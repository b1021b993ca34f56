import assert from 'node:assert/strict';
import { ClaimLostError, SchemaMismatchError } from 'cronlatch';
import { systemClock, type Clock } from 'cronlatch/provider';
import { createJobGuard } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { testOnEvery } from '../../support/databases/fresh';
import { migratedDataSource } from '../../support/databases/lock-table';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { CLOSE_DAY, closeDay, countedTask, heldTask } from '../../support/jobs/close-day';

const LONGEST_PAUSE_MS = 1500;
const PAUSE_MS = 10_000;
const QUIET = { logger: false, pollInterval: false } as const;

/** A clock on which the lease ends after a few of the pauses between two tries of a statement. */
function withLongPauses(): Clock {
  let aheadMs = 0;
  return {
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    wallMs: () => systemClock.wallMs() + aheadMs,
    schedule(delayMs, callback, options) {
      if (delayMs > LONGEST_PAUSE_MS) return systemClock.schedule(delayMs, callback, options);
      const immediate = setImmediate(() => {
        aheadMs += PAUSE_MS;
        callback();
      });
      return () => clearImmediate(immediate);
    },
  };
}

testOnEvery(
  'without its tables nothing runs, and the error explains how to create them (L-13)',
  async (database) => {
    await using dataSource = closing(await migratedDataSource(database));
    await using guard = closing(await createJobGuard(dataSource, QUIET));
    const { task, runs } = countedTask();
    await assert.rejects(guard.run(closeDay(), task), (error) => {
      assert.ok(error instanceof SchemaMismatchError);
      assert.match(error.message, /cronlatch_run.*Create it with npx cronlatch init\./s);
      return true;
    });
    assert.equal(runs(), 0);
  },
);

testOnEvery(
  'if the row of a run is deleted while it runs, the run throws a ClaimLostError when its lease ends (L-14)',
  async (database) => {
    await using dataSource = closing(await ledgerDataSource(database));
    await using guard = closing(await createJobGuard(dataSource, { ...QUIET, clock: withLongPauses() }));
    const { task, started, end } = heldTask();
    const running = guard.run(closeDay(), task);
    await started;
    await dataSource.query('DELETE FROM cronlatch_run');
    end();
    await assert.rejects(running, (error) => {
      assert.ok(error instanceof ClaimLostError);
      assert.match(error.message, /the store has no row of it/);
      return true;
    });
    assert.deepEqual(await guard.ledger.list({ job: CLOSE_DAY.job }), [], 'the row is not created again');
  },
);
