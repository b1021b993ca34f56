import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { LockAssert, LockStorageError } from 'cronlatch';
import { guardBench, runningJob } from '../support/benches/guard';
import { lockBench, turn, JOB } from '../support/benches/lock';
import { delayedBy, replyLost, refusedConnection, sendingLost } from '../support/faults/accessor';

void test('after its own unlock a handler is not inside its lease', async () => {
  const { guard, other } = guardBench();
  let nestedRan = false,
    asserted = true;
  await guard.run(JOB, async (lock) => {
    await lock.unlock();
    assert.ok(await other.lock(JOB), 'another instance holds it now');
    try {
      LockAssert.assertLocked('job');
    } catch {
      asserted = false;
    }
    await guard.run(JOB, () => {
      nestedRan = true;
    });
  });
  assert.deepEqual({ nestedRan, asserted }, { nestedRan: false, asserted: false });
});

void test('the signal aborts at the end of a shortening extension whose answer was lost', async () => {
  const { clock, accessor, granted, drive, other } = lockBench();
  const lock = await granted();
  const { signal } = lock;
  accessor.fail('extend', replyLost, ...Array.from({ length: 1000 }, () => sendingLost));
  await assert.rejects(drive(lock.extend('10s')), LockStorageError);
  clock.advance('5s');
  await turn();
  assert.ok(await other.lock(JOB), 'the lease has expired in the store');
  assert.equal(signal.aborted, true);
});

void test('a release that cannot be written is not retried forever after the guard has closed', async () => {
  const { guard, clock, accessor, drive } = guardBench();
  accessor.fail('unlock', ...Array.from({ length: 10_000 }, () => refusedConnection));
  const job = await runningJob(guard, { name: 'job', lockAtMostFor: '1h' });
  job.finish();
  await drive(guard.close(), 100);
  const counts: number[] = [];
  for (let i = 0; i < 200; i += 1) {
    clock.advance(100);
    await turn();
    counts.push(accessor.calls.length);
  }
  assert.equal(counts.at(-1), counts[99], 'no statement 10 s after closing');
});

void test('with lockAtLeastFor = lockAtMostFor and an extension of unknown outcome, the lock is still released', async () => {
  const { clock, accessor, granted, store } = lockBench();
  const lock = await granted({ name: 'job', lockAtMostFor: '30s', lockAtLeastFor: '30s', keepAlive: true });
  accessor.fail('extend', replyLost);
  clock.advance('10s');
  await turn();
  await lock.unlock();
  clock.advance('20s');
  assert.equal((await store.find('job'))?.held, false);
});

void test('a late grant that is released leaves no statement that could lock the name again', async () => {
  const { clock, accessor, provider, store, drive } = lockBench();
  await (await provider.lock(JOB))?.unlock();
  let late: () => Promise<unknown> = () => assert.fail('not sent');
  accessor.fail(
    'updateRecord',
    (run) => {
      late = run;
      return sendingLost(run);
    },
    async (run) => {
      const grant = await run();
      clock.stall('11m');
      return grant;
    },
  );
  await assert.rejects(drive(provider.lock(JOB)), /granted too late/);
  await late();
  clock.advance('6s');
  await turn();
  assert.equal((await store.find('job'))?.held, false);
});

void test('a lock granted to a guard that no longer waits is released', async () => {
  const { guard, accessor, store, drive } = guardBench();
  let go!: () => void;
  accessor.fail(
    'updateRecord',
    delayedBy(() => new Promise<void>((r) => (go = r))),
  );
  const result = guard.run({ name: 'job', lockAtMostFor: '1h' }, () => assert.fail());
  await turn();
  await drive(guard.close({ timeout: '1s' }), 100);
  go();
  await result;
  assert.equal((await store.find('job'))?.held, false);
});

void test('an accessor whose extend never settles does not block the job forever', async () => {
  const { guard, clock, accessor } = guardBench();
  accessor.fail('extend', () => new Promise(() => {}));
  const job = await runningJob(guard, { name: 'job', lockAtMostFor: '30s', keepAlive: true });
  clock.advance('10s');
  await turn();
  job.finish();
  for (let i = 0; i < 400; i += 1) {
    clock.advance(1000);
    await turn();
  }
  assert.equal((await guard.run(JOB, () => 1)).executed, true);
});

void test('a warning listener that throws an unusual value changes nothing (F-90)', async () => {
  const { guard, events } = guardBench({ logger: false });
  events.on('guard:warning', () => {
    throw Object.create(null);
  });
  events.on('lock:acquired', () => {
    throw new Error('x');
  });
  assert.equal((await guard.run(JOB, () => 1)).executed, true);
});

void test('an abandonedSignal that is used for many locks does not accumulate listeners', async () => {
  const { provider } = lockBench();
  const abandonedSignal = new AbortController().signal;
  for (let i = 0; i < 20; i += 1)
    await (
      await provider.lock({ ...JOB, keepAlive: true }, { abandonedSignal: () => abandonedSignal })
    )?.unlock();
  assert.equal(getEventListeners(abandonedSignal, 'abort').length, 0);
});

void test('an invalid lock from a provider is reported, and nothing runs under it', async () => {
  const invalid = { name: 'job', unlock: () => Promise.resolve(true) };
  const lockProvider = { lock: () => Promise.resolve(invalid as never) };
  const { guard, lines } = guardBench({ lockProvider });
  assert.equal(await guard.wrap(JOB, () => assert.fail('ran'))(), undefined);
  assert.match(lines.join(), /The lock provider returned a lock without a signal for 'job'/);
});
