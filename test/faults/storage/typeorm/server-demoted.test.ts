import assert from 'node:assert/strict';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { reasonOf } from '../../../support/benches/guard';
import { testOnOwnServers } from '../../../support/benches/own-server';
import { eventually } from '../../../support/clocks/eventually';
import { lockRows } from '../../../support/databases/lock-table';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '2s' };

testOnOwnServers(
  'if a server is demoted under a job, the job keeps its outcome, and every tick fails until it is the primary again (F-37)',
  async (bench) => {
    const { guard, application } = bench;
    const tick = (name: string) => guard.run({ ...JOB, name }, () => 'ran');
    const releaseFailed = new Promise<void>((resolve) =>
      guard.on('lock:releaseFailed', ({ name }) => {
        // The lock 'other' may still be granted, and then fail to be released.
        if (name === JOB.name) resolve();
      }),
    );
    const result = await guard.run(JOB, async () => {
      await bench.demote();
      // A session notices it a moment later.
      const refused = () =>
        tick('other').then(
          () => false,
          () => true,
        );
      await eventually(refused, 'a tick is refused');
      const error = await reasonOf(tick('other'));
      assert.ok(error instanceof LockStorageError);
      assert.equal(error.outcome, 'nothing-ran');
      assert.match(error.message, /is read-only: .*Connect to the primary/);
      return 'done';
    });
    assert.deepEqual(result, { executed: true, value: 'done' });
    await releaseFailed;
    const row = (await lockRows(application)).find(({ name }) => name === 'job');
    assert.doesNotMatch(row?.lockedBy ?? '', /\/released$/, 'the lease expires');
    await bench.promote();
    await eventually(
      async () => (await tick('job').catch(() => undefined))?.executed === true,
      'a tick runs',
    );
  },
);
