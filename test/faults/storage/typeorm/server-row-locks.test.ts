import assert from 'node:assert/strict';
import type { Lock, LockConfiguration } from 'cronlatch';
import { testOnServers } from '../../../support/benches/server';
import { eventually } from '../../../support/clocks/eventually';
import { lockRows } from '../../../support/databases/lock-table';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

/** The server's error when it stops waiting for a locked row. */
const GAVE_UP = { mysql: 'ER_LOCK_WAIT_TIMEOUT', mariadb: 'ER_LOCK_WAIT_TIMEOUT', postgres: '57014' };

testOnServers(
  'the server gives up waiting for a locked row before the client does (F-41, F-46)',
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
  'rows that another transaction has locked do not keep other jobs from their locks (F-59)',
  async (bench) => {
    const provider = bench.provider();
    const [locked, others] = [namesOf('locked', 3), namesOf('other', 29)];
    for (const name of [...locked, ...others])
      await (await provider.lock({ name, lockAtMostFor: '10s' }))?.unlock();
    await bench.stranger.lockRow(...locked);
    const ask = (name: string): Promise<Lock | undefined> => provider.lock({ name, lockAtMostFor: '10s' });
    const waiting = Promise.allSettled(locked.map(ask));
    const answers = await Promise.allSettled(others.map(ask));
    const granted = answers.filter((answer) => answer.status === 'fulfilled' && answer.value !== undefined);
    const refusals = answers.map((answer) => answer.status === 'rejected' && String(answer.reason));
    assert.equal(granted.length, others.length, refusals.find(Boolean) || '');
    await bench.stranger.commit();
    await waiting;
    const ofApplication = 1;
    const areClosed = async (): Promise<boolean> =>
      (await bench.stranger.countSessions()) <= ofApplication + 2;
    await eventually(areClosed, 'the borrowed connection is closed');
  },
);

function namesOf(kind: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${kind}-${index}`);
}

testOnServers(
  'if every connection stays busy, an acquisition fails within two statement limits, and blocks others no longer than that (F-52)',
  async (bench) => {
    const provider = bench.provider({ statementTimeout: '2s' });
    await (await provider.lock(JOB))?.unlock();
    const ask = () => Promise.allSettled(Array.from({ length: 5 }, () => provider.lock(JOB)));
    const answers = await bench.stranger.whileTableIsLocked(ask);
    assert.ok(answers.every(({ status }) => status === 'rejected'));
    // One that waited long for its connection may now be granted without a holder: its release by owner
    // follows.
    const givenUpAtMs = performance.now() + 4000;
    let lock = await provider.lock(JOB);
    while (lock === undefined && performance.now() < givenUpAtMs) lock = await provider.lock(JOB);
    assert.ok(lock);
  },
);

testOnServers(
  "a statementTimeout shorter than the server's wait for a locked row causes a warning at the start",
  async (bench) => {
    const warnings: string[] = [];
    const options = { onWarning: (message: string): void => void warnings.push(message) };
    await bench.provider({ ...options, statementTimeout: '1s' }).check();
    assert.deepEqual(warnings, []);
    await bench.provider({ ...options, statementTimeout: '500ms' }).check();
    if (bench.server === 'postgres') assert.deepEqual(warnings, []);
    else {
      assert.equal(warnings.length, 1);
      assert.match(warnings[0] ?? '', /^statementTimeout is 500 ms, .* at least 1 s.* Set statementTimeout/);
    }
  },
);
