import assert from 'node:assert/strict';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { eventually } from '../../support/eventually';
import { lockRows } from '../../support/lock-table';
import { testAmbiguous } from './ambiguous-bench';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

testAmbiguous(
  'F-41 a take-over that arrives after its client has given up is granted to nobody for long',
  async (bench) => {
    const { provider, proxy } = await bench.process({ statementTimeout: '1s' });
    await (await provider.lock(JOB))?.unlock();
    const [before] = await lockRows(bench.operator);
    proxy.stall('to-server');
    await assert.rejects(provider.lock(JOB), LockStorageError);
    proxy.flow();
    const isOver = async (): Promise<boolean> => {
      const [row] = await lockRows(bench.operator);
      return row !== undefined && row.token !== before?.token && !row.held;
    };
    await eventually(isOver, 'the late grant is released by its owner');
    assert.ok(await provider.lock(JOB));
  },
);
