import assert from 'node:assert/strict';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import { reasonOf } from '../../support/benches/guard';
import { testOnServers } from '../../support/benches/server';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

testOnServers(
  'if jobs hold all connections of a shared pool, a tick fails in time, and the next one runs (F-44)',
  async (bench) => {
    const application = await bench.connected({ poolSize: 1 });
    const options = { connections: 'shared', logger: false, statementTimeout: '300ms' } as const;
    const guard = bench.closeAtEnd(await createJobGuard(application, options));
    const result = await guard.run(JOB, () =>
      application.transaction(async () => {
        const error = await reasonOf(guard.run({ ...JOB, name: 'other' }, () => assert.fail('ran')));
        assert.ok(error instanceof LockStorageError);
        assert.equal(error.outcome, 'nothing-ran');
        return 'done';
      }),
    );
    assert.deepEqual(result, { executed: true, value: 'done' });
    assert.equal((await guard.run({ ...JOB, name: 'other' }, () => {})).executed, true);
  },
);
