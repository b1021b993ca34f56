import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { LockLostError, type Lock } from 'cronlatch';
import { RowLockProvider } from 'cronlatch/typeorm';
import * as mysql2 from 'mysql2';
import { DataSource } from 'typeorm';
import { closing } from '../../../support/benches/closing';
import { aborted, JOB, testRowLocks, type RowLocks } from '../../../support/benches/row-locks';
import { sqlProxy, protocolOf } from '../../../support/faults/sql-proxy/sql-proxy';
import { targetOf, tcpProxy } from '../../../support/faults/tcp-proxy';

async function granted(locks: RowLocks, proxy?: { port: number }): Promise<Lock> {
  const lock = await locks.provider({}, proxy).lock(JOB);
  assert.ok(lock);
  return lock;
}

/** How long the holder did not know that it had lost its lock. */
async function lostWithin(ms: number, lock: Lock, act: () => Promise<unknown> | void): Promise<void> {
  const lost = aborted(lock.signal);
  const fromMs = performance.now();
  await act();
  assert.ok((await lost) instanceof LockLostError);
  const tookMs = performance.now() - fromMs;
  assert.ok(tookMs <= ms, `the signal aborted after ${tookMs} ms`);
  assert.equal(lock.remainingMs(), 0);
  assert.equal(await lock.extend('10m'), false);
  assert.equal(await lock.unlock(), false);
}

testRowLocks(
  'a holder whose session was killed knows it within two seconds, and the lock is free',
  async (locks) => {
    const lock = await granted(locks);
    await lostWithin(2000, lock, () => locks.stranger.killSessions());
    assert.match(String(lock.signal.reason), /connection.*ended|transaction has ended/);
    await granted(locks);
  },
);

testRowLocks(
  'a holder whose connection was cut knows it within two seconds, and the lock is free',
  async (locks) => {
    await using proxy = closing(await tcpProxy(targetOf(locks.database.url)));
    await lostWithin(2000, await granted(locks, proxy), () => void proxy.cut());
    assert.ok(await locks.provider({ wait: '5s' }).lock(JOB));
  },
);

testRowLocks(
  'if nothing gets through, the server frees the lock, and not before its holder has given it up',
  async (locks) => {
    await using proxy = closing(await tcpProxy(targetOf(locks.database.url)));
    const lock = await granted(locks, proxy);
    let isLost = false;
    void aborted(lock.signal).then(() => (isLost = true));
    const other = locks.provider();
    proxy.stall();
    let next: Lock | undefined;
    const untilMs = performance.now() + 15_000;
    while ((next = await other.lock(JOB)) === undefined) assert.ok(performance.now() < untilMs);
    assert.equal(isLost, true);
    assert.match(String(lock.signal.reason), /did not answer|not confirmed/);
    assert.ok((next.fencingToken ?? 0) > (lock.fencingToken ?? Infinity));
  },
);

testRowLocks(
  'a message of which only a part arrived does not keep the lock longer',
  async (locks) => {
    const opened: mysql2.Connection[] = [];
    let isGone = false;
    // A lost host sends nothing more, not even through another connection.
    const createConnection = (options: mysql2.ConnectionOptions): mysql2.Connection => {
      const connection = mysql2.createConnection(isGone ? { ...options, port: 1 } : options);
      opened.push(connection);
      return connection;
    };
    const { server: type, database } = locks;
    const source = new DataSource({
      type,
      url: database.url,
      driver: { ...mysql2, createConnection },
    });
    const provider = new RowLockProvider(source);
    const lock = await provider.lock(JOB);
    const { stream } = opened.at(-1) as unknown as { stream: Socket };
    const destroy = stream.destroy.bind(stream);
    stream.write(Buffer.from([5, 0, 0, 0, 3])); // The header, and the first of five bytes.
    isGone = true;
    Object.assign(stream, { write: () => true, end: () => stream, destroy: () => stream });
    assert.ok(await locks.provider({ wait: '12s' }).lock(JOB));
    assert.ok(lock?.signal.reason instanceof LockLostError);
    destroy();
    await provider.close();
  },
  ['mysql', 'mariadb'],
);

testRowLocks('a stall that is shorter than five seconds has no effect', async (locks) => {
  await using proxy = closing(await tcpProxy(targetOf(locks.database.url)));
  const lock = await granted(locks, proxy);
  proxy.stall();
  const other = locks.provider({ wait: '2s' });
  assert.equal(await other.lock(JOB), undefined);
  proxy.flow();
  assert.equal(await lock.extend('10m'), true);
  assert.equal(await lock.unlock(), true);
});

testRowLocks('a release whose COMMIT got no answer is settled by the row: it took effect', async (locks) => {
  await using proxy = closing(await sqlProxy(targetOf(locks.database.url), protocolOf(locks.server)));
  const lock = await granted(locks, proxy);
  const swallowed = proxy.swallow('commit', 'cut');
  assert.equal(await lock.unlock(), true);
  await swallowed;
  await granted(locks);
});

testRowLocks(
  'a release whose COMMIT never arrived is settled by the row: it did not take effect',
  async (locks) => {
    await using proxy = closing(await sqlProxy(targetOf(locks.database.url), protocolOf(locks.server)));
    const lock = await locks.provider({}, proxy).lock({ ...JOB, lockAtLeastFor: '5m' });
    const lost = proxy.lose('commit', 'cut');
    assert.equal(await lock?.unlock(), false);
    await lost;
    // The lock was freed with its connection, and lockAtLeastFor was not written.
    await granted(locks);
  },
);

testRowLocks('an attempt whose answer is lost is an error, and locks nothing', async (locks) => {
  await using proxy = closing(await tcpProxy(targetOf(locks.database.url)));
  const provider = locks.provider({ statementTimeout: '1s' }, proxy);
  await provider.check();
  proxy.stall('to-client');
  await assert.rejects(provider.lock(JOB), { code: 'CRONLATCH_STORAGE' });
  proxy.flow();
  const other = locks.provider({ wait: '10s' });
  assert.ok(await other.lock(JOB));
});
