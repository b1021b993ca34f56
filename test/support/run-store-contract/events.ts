import assert from 'node:assert/strict';
import type { NewRunEvent } from '#cronlatch/ledger/run-store';
import { cases } from './fixture';
import { DAY_MS, LOST, MINUTE_MS, PENDING, SKIPPED, keyOf, running } from './runs';

const SKIP: NewRunEvent = { ...LOST, attempt: 0, kind: 'skipped', actor: 'ops', detail: 'closed' };
const RERUN: NewRunEvent = { ...LOST, attempt: 0, kind: 'rerun', generation: 1, actor: 'ops' };
const LOST_THIRD: NewRunEvent = { ...LOST, attempt: 3, fencingToken: 7, detail: 'crashed' };

/** Events hold what the row cannot hold, and are written together with it. */
export const events = cases((test) => [
  test('a run without events has none, and neither has a run that does not exist (L-52)', async (c) => {
    await c.store.inserted(PENDING);
    assert.deepEqual(await c.store.events(), []);
    assert.deepEqual(await c.store.events(keyOf('another')), []);
  }),

  test('the event of an insert is written with the row, at the store’s now (L-52)', async (c) => {
    await c.elapse('1d');
    const insert = () => c.store.inserted({ ...SKIPPED, event: SKIP });
    const { assertIsNow } = await c.store.readClockAround(insert);
    const [event] = await c.other.events();
    assertIsNow({ at: event?.at });
    assert.deepEqual(await c.other.events(), [{ ...SKIP, at: event?.at }]);
  }),

  test('an insert that is refused writes no event (L1)', async (c) => {
    await c.store.inserted({ ...SKIPPED, event: SKIP });
    await c.store.refused({ ...SKIPPED, event: RERUN });
    await c.other.refused({ ...running(), event: LOST });
    assert.deepEqual(await c.store.kindsOfEvents(), ['skipped']);
  }),

  test('the events of a decision are written in order, at the store’s now (L-52)', async (c) => {
    await c.store.inserted(running());
    await c.elapse('1d');
    const written = [LOST_THIRD, RERUN, SKIP];
    const write = () => c.store.written({ generation: 1 }, { events: written });
    const { assertIsNow } = await c.store.readClockAround(write);
    const stored = await c.other.events();
    // Each at the time of its own statement.
    for (const { at } of stored) assertIsNow({ at });
    const expected = written.map((event, i) => ({ ...event, at: stored[i]?.at }));
    assert.deepEqual(stored, expected);
  }),

  test('new events do not replace earlier ones, and events are returned oldest first (L-52)', async (c) => {
    await c.store.inserted({ ...SKIPPED, event: SKIP });
    await c.elapse('10m');
    await c.other.written({}, { events: [RERUN] });
    await c.elapse('10m');
    await c.store.written({}, { events: [LOST, SKIP] });
    const stored = await c.other.events();
    const kinds = stored.map(({ kind }) => kind);
    assert.deepEqual(kinds, ['skipped', 'rerun', 'lost', 'skipped']);
    for (const [i, minutes] of [20, 10, 0, 0].entries())
      await c.store.assertAge(stored[i]?.at, minutes * MINUTE_MS);
  }),

  test('a decision can write events alone, and the row stays unchanged (L-54)', async (c) => {
    await c.store.inserted(running());
    await c.elapse('1d');
    await c.store.change(() => ({ value: 1, events: [LOST] }));
    assert.deepEqual(await c.store.kindsOfEvents(), ['lost']);
    await c.store.assertAge((await c.store.run()).updatedAt, DAY_MS);
  }),

  test('events belong to their run alone (L-52)', async (c) => {
    const keys = [keyOf('a'), keyOf('a', { scope: 'eu' }), keyOf('a', { job: 'another' }), keyOf('b')];
    for (const [i, key] of keys.entries())
      await c.store.inserted({ ...SKIPPED, ...key, event: { ...SKIP, detail: `${i}` } });
    for (const [i, key] of keys.entries()) {
      await c.store.written({}, { key, events: [{ ...RERUN, detail: `${i}` }] });
      const details = (await c.store.events(key)).map(({ detail }) => detail);
      assert.deepEqual(details, [`${i}`, `${i}`]);
    }
  }),

  test('the longest actor, detail and token of an event are returned whole (L-56)', async (c) => {
    const event: NewRunEvent = {
      ...LOST,
      kind: 'completed-late',
      actor: '\u{1f512}'.repeat(255),
      detail: `'"\\ -- ${'\u{1f512}'.repeat(2000)}`,
      fencingToken: Number.MAX_SAFE_INTEGER,
    };
    await c.store.inserted({ ...SKIPPED, event });
    await c.store.written({}, { events: [event] });
    const stored = await c.other.events();
    const expected = [0, 1].map((i) => ({ ...event, at: stored[i]?.at }));
    assert.deepEqual(stored, expected);
  }),
]);
