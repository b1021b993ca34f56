import assert from 'node:assert/strict';
import type { LockConfiguration } from 'cronlatch';
import { lockRows } from '../../support/lock-table';
import { testOnServers } from '../../support/server-bench';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

/** What the server says when it gives up a statement that waits. */
const GAVE_UP = { mysql: 'ER_LOCK_WAIT_TIMEOUT', mariadb: 'ER_LOCK_WAIT_TIMEOUT', postgres: '57014' };

testOnServers(
  'F-41 F-46 a row that a transaction of somebody else has locked is given up by the server before the client',
  async (bench) => {
    const provider = bench.provider();
    await (await provider.lock(JOB))?.unlock();
    await bench.stranger.lockRow('job');
    await assert.rejects(provider.lock(JOB), {
      code: 'CRONLATCH_STORAGE',
      outcome: 'contention',
      driverCode: GAVE_UP[bench.server],
    });
    await bench.stranger.commit();
    const held = (await lockRows(bench.application)).map((row) => row.held);
    assert.deepEqual(held, [false], 'nothing was granted afterwards');
    assert.ok(await provider.lock(JOB));
  },
);

testOnServers('an extension goes before twenty acquisitions that wait for a connection', async (bench) => {
  const provider = bench.provider();
  const held = await provider.lock(JOB);
  await (await provider.lock({ ...JOB, name: 'other' }))?.unlock();
  await bench.stranger.lockRow('other');
  const waiting = Array.from({ length: 20 }, () => provider.lock({ ...JOB, name: 'other' }));
  assert.equal(await held?.extend('2m'), true);
  await bench.stranger.commit();
  const answers = await Promise.all(waiting);
  assert.equal(answers.filter((lock) => lock !== undefined).length, 1);
});

testOnServers(
  'F-52 when every connection stays busy, an acquisition is an error within two limits, and blocks nobody for longer',
  async (bench) => {
    const provider = bench.provider({ statementTimeout: '2s' });
    await (await provider.lock(JOB))?.unlock();
    const ask = () => Promise.allSettled(Array.from({ length: 5 }, () => provider.lock(JOB)));
    const answers = await bench.stranger.whileTableIsLocked(ask);
    assert.ok(answers.every(({ status }) => status === 'rejected'));
    // One that had waited long for its connection may be granted to nobody now: its release by owner follows.
    const givenUpAtMs = performance.now() + 4000;
    let lock = await provider.lock(JOB);
    while (lock === undefined && performance.now() < givenUpAtMs) lock = await provider.lock(JOB);
    assert.ok(lock);
  },
);
