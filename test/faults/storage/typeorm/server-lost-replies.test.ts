import assert from 'node:assert/strict';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { testOnServers } from '../../../support/benches/server';
import { eventually } from '../../../support/clocks/eventually';
import { lockRows } from '../../../support/databases/lock-table';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };
const IMPATIENT = { statementTimeout: '1s' } as const;

testOnServers(
  'a takeover whose reply never arrives is found again on a fresh connection (F-39)',
  async (bench) => {
    const { proxy, provider } = await bench.proxied(IMPATIENT);
    await (await provider.lock(JOB))?.unlock();
    proxy.deafen();
    const lock = await provider.lock(JOB);
    const [row] = await lockRows(bench.application);
    assert.deepEqual([row?.held, row?.token], [true, lock?.fencingToken]);
    assert.equal(await lock?.unlock(), true);
  },
);

testOnServers('an extension whose reply never arrives is resent, and counts (F-39)', async (bench) => {
  const { proxy, provider } = await bench.proxied(IMPATIENT);
  const lock = await provider.lock(JOB);
  proxy.deafen();
  assert.equal(await lock?.extend('2m'), true);
  assert.ok((lock?.remainingMs() ?? 0) > 60_000);
  assert.equal(await lock?.unlock(), true);
});

testOnServers('a release whose reply never arrives is recognised by its mark (F-39)', async (bench) => {
  const { proxy, provider } = await bench.proxied(IMPATIENT);
  const lock = await provider.lock(JOB);
  proxy.deafen();
  assert.equal(await lock?.unlock(), true);
  const [row] = await lockRows(bench.application);
  assert.match(row?.lockedBy ?? '', /\/released$/);
});

testOnServers('a grant whose connection is cut is found again on a fresh one (F-39)', async (bench) => {
  const { proxy, provider } = await bench.proxied();
  await (await provider.lock(JOB))?.unlock();
  // The statement waits for a row lock; its connection is cut; then it continues and takes effect.
  await bench.stranger.lockRow('job');
  const locking = provider.lock(JOB).catch((error: unknown) => error);
  await eventually(() => bench.stranger.isAnySessionWaiting(), 'the statement waits for the row');
  await proxy.close();
  await bench.stranger.commit();
  await proxy.open();
  const lock = await locking;
  const [row] = await lockRows(bench.application);
  // If the server notices the cut before the statement continues, there is no grant, but an error.
  if (row?.held) assert.equal((lock as { fencingToken: number }).fencingToken, row.token);
  else assert.ok(lock instanceof LockStorageError);
});

testOnServers(
  'an idle connection that the server has killed costs only a new connection (F-50)',
  async (bench) => {
    await bench.application.destroy();
    const provider = bench.provider();
    await (await provider.lock(JOB))?.unlock();
    assert.equal(await bench.stranger.countSessions(), 1);
    await bench.stranger.killSessions();
    assert.equal(await (await provider.lock(JOB))?.unlock(), true);
  },
);

testOnServers('a statement whose connection is killed while it waits is resent (F-50)', async (bench) => {
  await bench.application.destroy();
  const provider = bench.provider();
  await (await provider.lock(JOB))?.unlock();
  await bench.stranger.lockRow('job');
  const locking = provider.lock(JOB);
  await eventually(() => bench.stranger.isAnySessionWaiting(), 'the statement waits for the row');
  await bench.stranger.killSessions();
  await bench.stranger.commit();
  const lock = await locking;
  assert.equal(await lock?.unlock(), true);
});
