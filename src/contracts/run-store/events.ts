import assert from 'node:assert/strict';
import type { RunEvent } from '../../ledger/run';
import type { NewRunEvent, RunStore } from '../../ledger/run-store';
import { assertAge, readClockAround } from './assertions';
import { cases } from './fixture';
import {
  DAY_MS,
  KEY,
  LIMIT,
  LOST,
  MINUTE_MS,
  PENDING,
  SKIPPED,
  inserted,
  keyOf,
  refused,
  runOf,
  running,
  written,
} from './runs';

const SKIP: NewRunEvent = { ...LOST, attempt: 0, kind: 'skipped', actor: 'ops', detail: 'closed' };
const RERUN: NewRunEvent = { ...LOST, attempt: 0, kind: 'rerun', generation: 1, actor: 'ops' };
const LOST_THIRD: NewRunEvent = { ...LOST, attempt: 3, fencingToken: 7, detail: 'crashed' };

/** Events hold what the row cannot hold, and are written together with it. */
export const events = cases({
  async 'a run without events has none, and neither has a run that does not exist (L-52)'({ store }) {
    await inserted(store, PENDING);
    assert.deepEqual(await eventsOf(store), []);
    assert.deepEqual(await store.events(keyOf('another'), LIMIT), []);
  },

  async 'the event of an insert is written with the row, at the store’s now (L-52)'(fixture) {
    const { store, other, elapse } = fixture;
    await elapse('1d');
    const { assertIsNow } = await readClockAround(store, () => inserted(store, { ...SKIPPED, event: SKIP }));
    const [event] = await eventsOf(other);
    assertIsNow(event?.at, 'at');
    assert.deepEqual(await eventsOf(other), [{ ...SKIP, at: event?.at }]);
  },

  async 'an insert that is refused writes no event (L1)'({ store, other }) {
    await inserted(store, { ...SKIPPED, event: SKIP });
    await refused(store, { ...SKIPPED, event: RERUN });
    await refused(other, { ...running(), event: LOST });
    assert.deepEqual(kindsOf(await eventsOf(store)), ['skipped']);
  },

  async 'the events of a decision are written in order, at the store’s now (L-52)'({ store, other, elapse }) {
    await inserted(store, running());
    await elapse('1d');
    const write = () => written(store, () => ({ generation: 1 }), { events: [LOST_THIRD, RERUN, SKIP] });
    const { assertIsNow } = await readClockAround(store, write);
    const stored = await eventsOf(other);
    for (const { at } of stored) assertIsNow(at, 'at');
    // Each at the time of its own statement.
    assert.deepEqual(
      stored,
      [LOST_THIRD, RERUN, SKIP].map((event, i) => ({ ...event, at: stored[i]?.at })),
    );
  },

  async 'new events do not replace earlier ones, and events are returned oldest first (L-52)'(fixture) {
    const { store, other, elapse } = fixture;
    await inserted(store, { ...SKIPPED, event: SKIP });
    await elapse('10m');
    await written(other, () => ({}), { events: [RERUN] });
    await elapse('10m');
    await written(store, () => ({}), { events: [LOST, SKIP] });
    const stored = await eventsOf(other);
    assert.deepEqual(kindsOf(stored), ['skipped', 'rerun', 'lost', 'skipped']);
    for (const [i, minutes] of [20, 10, 0, 0].entries())
      await assertAge(store, stored[i]?.at, minutes * MINUTE_MS);
  },

  async 'a decision can write events alone, and the row stays unchanged (L-54)'({ store, elapse }) {
    await inserted(store, running());
    await elapse('1d');
    await store.change(KEY, () => ({ value: 1, events: [LOST] }), LIMIT);
    assert.deepEqual(kindsOf(await eventsOf(store)), ['lost']);
    await assertAge(store, (await runOf(store)).updatedAt, DAY_MS);
  },

  async 'events belong to their run alone (L-52)'({ store }) {
    const keys = [keyOf('a'), keyOf('a', { scope: 'eu' }), keyOf('a', { job: 'another' }), keyOf('b')];
    for (const [i, key] of keys.entries())
      await inserted(store, { ...SKIPPED, ...key, event: { ...SKIP, detail: `${i}` } });
    for (const [i, key] of keys.entries()) {
      await written(store, () => ({}), { key, events: [{ ...RERUN, detail: `${i}` }] });
      const details = (await store.events(key, LIMIT)).map(({ detail }) => detail);
      assert.deepEqual(details, [`${i}`, `${i}`]);
    }
  },

  async 'the longest actor, detail and token of an event are returned whole (L-56)'({ store, other }) {
    const actor = '\u{1f512}'.repeat(255);
    const detail = `'"\\ -- ${'\u{1f512}'.repeat(2000)}`;
    const event: NewRunEvent = {
      ...LOST,
      kind: 'completed-late',
      actor,
      detail,
      fencingToken: Number.MAX_SAFE_INTEGER,
    };
    await inserted(store, { ...SKIPPED, event });
    await written(store, () => ({}), { events: [event] });
    const stored = await eventsOf(other);
    assert.deepEqual(
      stored,
      stored.map(({ at }) => ({ ...event, at })),
    );
    assert.equal(stored.length, 2);
  },
});

async function eventsOf(store: RunStore): Promise<readonly RunEvent[]> {
  return await store.events(KEY, LIMIT);
}

function kindsOf(stored: readonly RunEvent[]): string[] {
  return stored.map(({ kind }) => kind);
}
