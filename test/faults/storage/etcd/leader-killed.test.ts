import assert from 'node:assert/strict';
import { once } from 'node:events';
import { LockManager, LockStorageError, type Lock } from 'cronlatch';
import type { LockObserver } from 'cronlatch/provider';
import { testOnEnsemble } from '../../../support/servers/test-on';
import { EtcdPlace } from '../../../support/stores/etcd-place';

const JOB = { name: 'job', lockAtMostFor: '30s' };

/** The renewals of a lease. */
class Renewals {
  readonly #events = new EventTarget();
  readonly observer: LockObserver = {
    extended: () => void this.#events.dispatchEvent(new Event('extended')),
  };

  /** Rejects if there is none within the lease. */
  async next(): Promise<void> {
    await once(this.#events, 'extended', { signal: AbortSignal.timeout(30_000) });
  }
}

/** As an application does: an attempt fails if no new leader is elected within its time limit. */
async function waitThrough(manager: LockManager): Promise<Lock> {
  const signal = AbortSignal.timeout(60_000);
  for (;;)
    try {
      return await manager.lock(JOB, { signal });
    } catch (error) {
      if (!(error instanceof LockStorageError)) throw error;
    }
}

testOnEnsemble(
  'etcd',
  'a leader that is killed while one holder renews and another waits leaves one holder',
  async (ensemble) => {
    const { urls } = ensemble;
    const place = new EtcdPlace(urls[0]);
    const endpoints = urls.map((url) => new URL(url).origin);
    const [provider, other] = [place.provider({ endpoints }), place.provider({ endpoints })];
    const renewals = new Renewals();
    const lock = await provider.lock({ ...JOB, keepAlive: '1s' }, renewals.observer);
    assert.ok(lock);
    const manager = new LockManager(other);
    let isHeld = true;
    const waiting = waitThrough(manager).then((next) => ({ next, wasFree: !isHeld }));
    await renewals.next();

    await (await ensemble.leader()).kill();
    await ensemble.leader();
    // The first one may have been sent before the kill.
    for (let renewal = 0; renewal < 3; renewal += 1) await renewals.next();
    assert.equal(lock.signal.aborted, false);
    assert.equal(await other.lock(JOB), undefined);

    isHeld = false;
    assert.equal(await lock.unlock(), true);
    const { next, wasFree } = await waiting;
    assert.equal(wasFree, true);
    assert.ok((next.fencingToken ?? 0) > (lock.fencingToken ?? Infinity));
    assert.equal(await next.unlock(), true);
    await manager.close();
    await Promise.all([provider.close(), other.close()]);
  },
);

testOnEnsemble(
  'etcd',
  'without a majority nothing is granted, and the lock that was held lasts until it is back',
  async ({ urls, members }) => {
    const place = new EtcdPlace(urls[0]);
    const endpoints = urls.map((url) => new URL(url).origin);
    const provider = place.provider({ endpoints, statementTimeout: '2s' });
    const lock = await provider.lock({ ...JOB, lockAtMostFor: '10m' });
    assert.ok(lock);
    const [first, second] = members;
    await Promise.all([first?.kill(), second?.kill()]);
    await assert.rejects(provider.lock({ ...JOB, name: 'other' }), { name: 'LockStorageError' });
    await Promise.all([first?.restart(), second?.restart()]);
    assert.equal(await provider.lock(JOB), undefined);
    assert.equal(await lock.extend('5m'), true);
    assert.equal(await lock.unlock(), true);
    await provider.close();
  },
);
