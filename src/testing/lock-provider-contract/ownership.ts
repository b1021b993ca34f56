import assert from 'node:assert/strict';
import { InvalidLockConfigurationError, type LockConfiguration } from '../../core';
import { JOB, AT_LEAST, granted, refused, type ContractCases } from './asserting';

/** A stale holder changes nothing, and what cannot be meant is refused. */
export const ownership: ContractCases = {
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
};
