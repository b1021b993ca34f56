import assert from 'node:assert/strict';
import { JOB, granted, refused, Renewals, type ContractCases } from './asserting';

/** A lease that is renewed while its job runs. */
export const keepAlive: ContractCases = {
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
