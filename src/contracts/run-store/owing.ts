import assert from 'node:assert/strict';
import { cases } from './contract-cases';
import {
  JOB,
  LIMIT,
  MINUTE_MS,
  PENDING,
  SKIPPED,
  inserted,
  insertedAs,
  keyOf,
  oneOfEach,
  owedBy,
  running,
} from './runs';

/** What is due or running of the jobs of an application: asked for every minute. */
export const owing = cases({
  async 'L4 where there are no runs, nothing is owed'({ store }) {
    assert.deepEqual(await owedBy(store), []);
    await inserted(store, PENDING);
    assert.deepEqual(await store.owed([], LIMIT), []);
  },

  async 'L4 what is due and what runs is owed, and nothing else'({ store, other }) {
    await oneOfEach(store, { scoped: true });
    const owed = ['failed', 'pending', 'running'].map((scope) => `${JOB}/${scope}`);
    assert.deepEqual((await owedBy(other)).sort(), owed);
  },

  async 'L4 each job and scope is owed once, however many of its runs wait'({ store }) {
    const keys = [keyOf('a'), keyOf('a', { job: 'another' }), keyOf('a', { scope: 'eu' })];
    for (const [i, key] of keys.entries())
      for (const periodKey of ['a', 'b'])
        await inserted(store, { ...(i === 0 ? running() : PENDING), ...key, periodKey });
    await inserted(store, { ...SKIPPED, ...keyOf('over', { scope: 'us' }) });
    const owed = keys.map(({ job, scope }) => `${job}/${scope}`).sort();
    assert.deepEqual((await owedBy(store, 'another')).sort(), owed);
  },

  async 'L4 of jobs that were not asked for nothing is told'({ store }) {
    for (const job of ['unknown', JOB.toUpperCase(), `${JOB}s`, 'jo"b', "jo'b", 'jöb'])
      await inserted(store, { ...PENDING, ...keyOf('a', { job }) });
    const hundreds = Array.from({ length: 300 }, (_, i) => `job-${i}`);
    assert.deepEqual(await owedBy(store, ...hundreds), []);
    await inserted(store, PENDING);
    const names = ['jo"b', "jo'b", 'jöb'];
    const owed = [JOB, ...names].map((job) => `${job}/`).sort();
    assert.deepEqual((await owedBy(store, ...hundreds, ...names)).sort(), owed);
  },

  async 'L4 what has been due, or has run, for the longest time comes first'({ store }) {
    const minutesAgo = { second: 40, fourth: 20, first: 50, third: 30 };
    for (const [scope, minutes] of Object.entries(minutesAgo)) {
      const runs = scope === 'second' || scope === 'third';
      const run = runs ? running() : PENDING;
      await insertedAs(store, { ...run, scope }, ({ now }) => {
        const since = new Date(now.getTime() - minutes * MINUTE_MS);
        return runs ? { startedAt: since } : { nextAttemptAt: since };
      });
    }
    await inserted(store, { ...PENDING, scope: 'first', periodKey: 'later' });
    const owed = ['first', 'second', 'third', 'fourth'].map((scope) => `${JOB}/${scope}`);
    assert.deepEqual(await owedBy(store), owed);
  },
});
