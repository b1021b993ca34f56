import assert from 'node:assert/strict';
import type { LockProvider } from 'cronlatch/provider';
import { ServerBench } from '../../support/benches/server';
import { testOn } from '../../support/databases/fresh';

async function lockAndUnlock(provider: LockProvider): Promise<void> {
  const lock = await provider.lock({ name: 'job', lockAtMostFor: '1m' });
  assert.equal(await lock?.extend('2m'), true);
  assert.equal(await lock?.unlock(), true);
}

testOn(
  'postgres',
  'statements that are no longer prepared on the server are sent unprepared (F-53)',
  async () => {
    const bench = await ServerBench.on('postgres');
    const application = await bench.connected({ poolSize: 1 });
    const provider = bench.provider({ connections: 'shared' }, application);
    await lockAndUnlock(provider);
    // As a pooler does between two clients.
    await application.query('DISCARD ALL');
    await lockAndUnlock(provider);
    await bench.dispose();
  },
);

testOn('postgres', 'a column of another type costs no attempt, although its plans are invalid', async () => {
  const bench = await ServerBench.on('postgres');
  const provider = bench.provider();
  await lockAndUnlock(provider);
  await bench.application.query('ALTER TABLE shedlock ALTER COLUMN fencing_token TYPE numeric');
  await lockAndUnlock(provider);
  await bench.dispose();
});
