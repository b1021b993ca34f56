import assert from 'node:assert/strict';
import type { LockConfiguration } from 'cronlatch';
import { SettableClock } from 'cronlatch/testing';
import { createJobGuard } from 'cronlatch/typeorm';
import { testOnServers } from '../../support/benches/server';
import { eventually } from '../../support/clocks/eventually';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

testOnServers('closing while locks are requested leaves no connection open', async (bench) => {
  await bench.application.destroy();
  const provider = bench.provider();
  await (await provider.lock(JOB))?.unlock();
  const names = Array.from({ length: 6 }, (_, i) => `job-${i}`);
  const asked = Promise.allSettled(names.map((name) => provider.lock({ ...JOB, name })));
  await provider.close();
  await asked;
  await eventually(async () => (await bench.stranger.countSessions()) === 0, 'no connection is left');
});

testOnServers('a process has two connections, and none after close', async (bench) => {
  // Its clock stands still: a statement that takes long would borrow another connection.
  await bench.application.destroy();
  const guard = bench.closeAtEnd(
    await createJobGuard(bench.dataSource({ poolSize: 10 }), { clock: new SettableClock() }),
  );
  const names = Array.from({ length: 20 }, (_, i) => `job-${i}`);
  await Promise.all(names.map((name) => guard.run({ ...JOB, name }, (lock) => lock.extend('2m'))));
  assert.equal(await bench.stranger.countSessions(), 2);
  await guard.close();
  // The connections were closed; the server removes them from its list a moment later.
  await eventually(async () => (await bench.stranger.countSessions()) === 0, 'no connection is left');
});
