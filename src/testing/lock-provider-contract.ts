import assert from 'node:assert/strict';
import {
  InvalidLockConfigurationError,
  LockLostError,
  type Duration,
  type Lock,
  type LockConfiguration,
  type LockProvider,
} from '../core';
import type { ContractCase } from './contract-case';

/** What the contract needs to know of a store. */
export interface LockProviderFixture {
  readonly provider: LockProvider;
  /** The same place of locks as another instance of the application sees it: nothing in memory is shared. */
  readonly other: LockProvider;
  /** Lets time pass for the store and for the clock of both providers alike. */
  readonly elapse: (duration: Duration) => void | Promise<void>;
  /** Removes the record of a lock, as an operator would. */
  readonly deleteRecord: (name: string) => void | Promise<void>;
  readonly dispose: () => void | Promise<void>;
}

const JOB = { name: 'contract', lockAtMostFor: '10m' } as const satisfies LockConfiguration;
const AT_LEAST = { ...JOB, lockAtLeastFor: '2m' } as const satisfies LockConfiguration;

/**
 * What every lock provider promises, as a list of cases for any runner. The letters are those of the promises: P1
 * exclusive, P2 a live holder knows, P3 tokens rise, P4 liveness, P5 at least, P6 ownership, P7 fail closed.
 *
 * @param create makes a fixture for one case; its locks are not shared with any other
 */
export function lockProviderContract(
  create: () => LockProviderFixture | Promise<LockProviderFixture>,
): ContractCase[] {
  return Object.entries(cases).map(([name, body]) => ({
    name,
    async run() {
      const fixture = await create();
      try {
        await body(fixture);
      } finally {
        await fixture.dispose();
      }
    },
  }));
}

const cases: Record<string, (fixture: LockProviderFixture) => Promise<void>> = {
  async 'P1 a lock that nobody holds is granted'({ provider }) {
    const lock = await granted(provider, JOB);
    assert.equal(lock.name, JOB.name);
  },

  async 'P1 a held lock is refused to another instance'({ provider, other }) {
    await granted(provider, JOB);
    await refused(other, JOB);
  },

  async 'P1 a held lock is refused to the same provider: acquisitions own, not processes'({ provider }) {
    await granted(provider, JOB);
    await refused(provider, JOB);
  },

  async 'P1 of many that ask at once for a new lock, one gets it'({ provider, other }) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? provider : other).lock(JOB)),
    );
    assert.equal(answers.filter((lock) => lock !== undefined).length, 1);
  },

  async 'P1 of many that ask at once for an expired lock, one gets it'({ provider, other, elapse }) {
    await granted(provider, JOB);
    await elapse('10m');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? provider : other).lock(JOB)),
    );
    assert.equal(answers.filter((lock) => lock !== undefined).length, 1);
  },

  async 'P1 two names are two locks'({ provider, other }) {
    await granted(provider, JOB);
    await granted(other, { ...JOB, name: 'contract-2' });
  },

  async 'P1 names are compared byte for byte'({ provider }) {
    for (const name of ['job', 'Job', 'jöb', 'job ß', 'job ss', '𝛼-job', "job'; --"])
      await granted(provider, { ...JOB, name });
  },

  async 'P1 a released lock is granted at once, ten times in a row'({ provider, other }) {
    for (let round = 0; round < 10; round += 1) {
      const lock = await granted(round % 2 ? provider : other, JOB);
      assert.equal(await lock.unlock(), true);
    }
  },

  async 'P2 the signal aborts when lockAtMostFor has passed, with a LockLostError'({ provider, elapse }) {
    const { signal } = await granted(provider, JOB);
    await elapse('9m');
    assert.equal(signal.aborted, false);
    await elapse('1m');
    assert.equal(signal.aborted, true);
    assert.ok(signal.reason instanceof LockLostError);
  },

  async 'P2 remainingMs counts down to zero'({ provider, elapse }) {
    const lock = await granted(provider, JOB);
    assert.ok(lock.remainingMs() <= 600_000 && lock.remainingMs() > 590_000);
    await elapse('4m');
    assert.ok(lock.remainingMs() <= 360_000 && lock.remainingMs() > 350_000);
    await elapse('6m');
    assert.equal(lock.remainingMs(), 0);
  },

  async 'P2 an extend that finds the lease lost aborts the signal'({ provider, deleteRecord }) {
    const lock = await granted(provider, JOB);
    await deleteRecord(JOB.name);
    assert.equal(await lock.extend('10m'), false);
    assert.equal(lock.signal.aborted, true);
  },

  async 'P2 a release does not abort the signal'({ provider, elapse }) {
    const lock = await granted(provider, JOB);
    await lock.unlock();
    await elapse('11m');
    assert.equal(lock.signal.aborted, false);
    assert.equal(lock.remainingMs(), 0);
  },

  async 'P3 tokens rise with every grant'({ provider, other, elapse }) {
    const tokens: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const lock = await granted(round % 2 ? provider : other, JOB);
      tokens.push(tokenOf(lock));
      if (round % 3 === 0) await elapse('10m');
      else await lock.unlock();
    }
    assert.deepEqual(
      tokens,
      [...new Set(tokens)].sort((a, b) => a - b),
    );
  },

  async 'P3 tokens rise also after the record was deleted'({ provider, deleteRecord, elapse }) {
    const first = tokenOf(await granted(provider, JOB));
    await deleteRecord(JOB.name);
    // Longer than a minute: by then a provider that remembers the record has looked again.
    await elapse('2m');
    assert.ok(tokenOf(await granted(provider, JOB)) > first);
  },

  async 'P4 the lock of a holder that vanished is granted when lockAtMostFor has passed, not before'({
    provider,
    other,
    elapse,
  }) {
    await granted(provider, JOB);
    await elapse('9m');
    await refused(other, JOB);
    await elapse('1m');
    await granted(other, JOB);
  },

  async 'P4 a record that was deleted while the lock was free comes back within a minute'({
    provider,
    deleteRecord,
    elapse,
  }) {
    await (await granted(provider, JOB)).unlock();
    await deleteRecord(JOB.name);
    await elapse('1m');
    await granted(provider, JOB);
  },

  async 'P4 extend moves the end of the lease to now + lockAtMostFor'({ provider, other, elapse }) {
    const lock = await granted(provider, JOB);
    await elapse('5m');
    assert.equal(await lock.extend('10m'), true);
    await elapse('9m');
    await refused(other, JOB);
    assert.equal(lock.signal.aborted, false);
    await elapse('1m');
    assert.equal(lock.signal.aborted, true);
    await granted(other, JOB);
  },

  async 'P4 a lease can be extended twice'({ provider, other, elapse }) {
    const lock = await granted(provider, JOB);
    for (let extension = 1; extension <= 2; extension += 1) {
      await elapse('9m');
      assert.equal(await lock.extend('10m'), true);
    }
    await elapse('9m');
    await refused(other, JOB);
    await lock.unlock();
    await granted(other, JOB);
  },

  async 'P4 a lease can be shortened'({ provider, other, elapse }) {
    const lock = await granted(provider, JOB);
    assert.equal(await lock.extend('1m'), true);
    await elapse('1m');
    assert.equal(lock.signal.aborted, true);
    await granted(other, JOB);
  },

  async 'P5 no grant before lockAtLeastFor, although the job has ended'({ provider, other, elapse }) {
    assert.equal(await (await granted(provider, AT_LEAST)).unlock(), true);
    await elapse('1m');
    await refused(other, AT_LEAST);
    await elapse('1m');
    await granted(other, AT_LEAST);
  },

  async 'P5 a short extend does not undercut lockAtLeastFor'({ provider, other, elapse }) {
    const lock = await granted(provider, AT_LEAST);
    assert.equal(await lock.extend('30s'), true);
    await elapse('1m');
    await refused(other, AT_LEAST);
    await elapse('1m');
    await granted(other, AT_LEAST);
  },

  async 'P5 a run longer than lockAtLeastFor frees the lock at once'({ provider, other, elapse }) {
    const lock = await granted(provider, AT_LEAST);
    await elapse('3m');
    await lock.unlock();
    await granted(other, AT_LEAST);
  },

  async 'P5 lockAtLeastFor equal to lockAtMostFor keeps the lock for exactly that long'({
    provider,
    other,
    elapse,
  }) {
    const always = { ...JOB, lockAtLeastFor: JOB.lockAtMostFor };
    assert.equal(await (await granted(provider, always)).unlock(), true);
    await elapse('9m');
    await refused(other, always);
    await elapse('1m');
    await granted(other, always);
  },

  async 'P6 a stale holder does not release the next one'({ provider, other, elapse }) {
    const stale = await granted(provider, JOB);
    await elapse('10m');
    await granted(other, JOB);
    assert.equal(await stale.unlock(), false);
    await refused(provider, JOB);
  },

  async 'P6 a stale holder does not release the next one of the same process'({ provider, elapse }) {
    const stale = await granted(provider, JOB);
    await elapse('10m');
    await granted(provider, JOB);
    assert.equal(await stale.unlock(), false);
    await refused(provider, JOB);
  },

  async 'P6 a stale holder cannot extend, not even when nobody took over'({ provider, elapse }) {
    const stale = await granted(provider, JOB);
    await elapse('10m');
    assert.equal(await stale.extend('10m'), false);
    await granted(provider, JOB);
  },

  async 'P6 extending after the release changes nothing'({ provider, other }) {
    const lock = await granted(provider, AT_LEAST);
    await lock.unlock();
    assert.equal(await lock.extend('10m'), false);
    await refused(other, AT_LEAST);
  },

  async 'P6 releasing twice gives one answer and frees nobody else'({ provider, other }) {
    const lock = await granted(provider, JOB);
    assert.equal(await lock.unlock(), true);
    await granted(other, JOB);
    assert.equal(await lock.unlock(), true);
    await refused(provider, JOB);
  },

  async 'P7 a configuration that cannot be meant is refused, by name'({ provider }) {
    const wrong: LockConfiguration[] = [
      { name: '', lockAtMostFor: '10m' },
      { name: 'x'.repeat(256), lockAtMostFor: '10m' },
      { name: ' job', lockAtMostFor: '10m' },
      { name: 'job\n', lockAtMostFor: '10m' },
      { name: 'job' },
      { name: 'job', lockAtMostFor: 0 },
      { name: 'job', lockAtMostFor: '10' },
      { name: 'job', lockAtMostFor: '1m', lockAtLeastFor: '2m' },
    ];
    for (const configuration of wrong)
      await assert.rejects(provider.lock(configuration), InvalidLockConfigurationError);
  },

  async 'P2 a keep-alive renews the lease past lockAtMostFor, until the release'({
    provider,
    other,
    elapse,
  }) {
    const renewals = new Renewals();
    const lock = await granted(provider, { ...JOB, keepAlive: true }, renewals);
    for (let renewal = 1; renewal <= 6; renewal += 1) {
      const renewed = renewals.next();
      await elapse('4m');
      await renewed;
    }
    await refused(other, JOB);
    assert.equal(lock.signal.aborted, false);
    assert.equal(await lock.unlock(), true);
    await granted(other, JOB);
  },

  async 'P4 a keep-alive ends at maxHold, and so does the lease'({ provider, other, elapse }) {
    const renewals = new Renewals();
    const lock = await granted(
      provider,
      { ...JOB, lockAtMostFor: '9m', keepAlive: true, maxHold: '12m' },
      renewals,
    );
    const renewed = renewals.next();
    await elapse('3m');
    await renewed;
    await elapse('8m');
    assert.equal(lock.signal.aborted, false);
    await refused(other, JOB);
    await elapse('1m');
    assert.equal(lock.signal.aborted, true);
    await granted(other, JOB);
  },
};

async function granted(
  provider: LockProvider,
  configuration: LockConfiguration,
  renewals?: Renewals,
): Promise<Lock> {
  const lock = await provider.lock(configuration, renewals);
  assert.ok(lock !== undefined, `lock '${configuration.name}' should have been granted`);
  return lock;
}

async function refused(provider: LockProvider, configuration: LockConfiguration): Promise<void> {
  assert.equal(
    await provider.lock(configuration),
    undefined,
    `lock '${configuration.name}' should have been refused`,
  );
}

function tokenOf({ fencingToken }: Lock): number {
  assert.ok(fencingToken !== undefined, 'the store should give fencing tokens');
  return fencingToken;
}

/** Lets a case wait for a renewal instead of for time. */
class Renewals {
  #told = (): void => {};
  readonly extended = (): void => this.#told();

  next(): Promise<void> {
    return new Promise((resolve) => (this.#told = resolve));
  }
}
