import assert from 'node:assert/strict';
import { JOB, granted, refused, tokenOf, type ContractCases } from './asserting';

/** One holder at a time, and tokens that rise. */
export const exclusion: ContractCases = {
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
};
