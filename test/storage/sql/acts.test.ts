import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SettableClock } from 'cronlatch/testing';
import type { ActStore, NewAct, StoredAct } from '#cronlatch/ledger/act-store';
import { testRunStores } from '../../support/benches/run-store';
import { RunsAndActs } from '../../support/stores/in-memory-acts';
import { shiftActsBack } from '../../support/databases/run-tables';

const LIMIT = { timeoutMs: 10_000 };
const HOUR_MS = 3_600_000;
const RUN = {
  ...{ id: 'r1', verb: 'run', job: `it's "eu" \\ 日本 :job`, scope: 'eu', periodKey: '2026-11-20' },
  ...{ actor: 'anne', reason: 'the bank was late', dueInMs: 0, expiresInMs: HOUR_MS },
  ...{ state: 'open', openKey: 'run of eu' },
} as const satisfies NewAct;
const PAUSE = {
  ...{ id: 'p1', verb: 'pause', job: 'report', lock: 'reports', actor: 'bob', reason: 'audit\nof today' },
  ...{ detail: '{"until":"2h"}', state: 'taken', takenBy: 'host/1/x', leaseMs: HOUR_MS },
} as const satisfies NewAct;

interface Place {
  readonly store: ActStore;
  /** Lets time pass for the acts. */
  readonly elapse: (milliseconds: number) => Promise<void>;
}

async function find(store: ActStore, id: string): Promise<StoredAct | undefined> {
  const acts = await store.list({ limit: 1000 }, LIMIT);
  return acts.find((act) => act.id === id);
}

async function idsOf(acts: Promise<readonly StoredAct[]>): Promise<string[]> {
  return (await acts).map(({ id }) => id);
}

/** What every store promises, in memory and in a database. */
const PROMISES: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  async 'a request is returned with all that it was added with'({ store }) {
    assert.equal(await store.add(RUN, LIMIT), true);
    const { now, acts } = await store.pending('run', LIMIT);
    const [found, ...others] = acts;
    assert.ok(found);
    assert.deepEqual(others, []);
    const { at, dueAt, expiresAt, ...rest } = found;
    const { dueInMs: _due, expiresInMs: _expires, openKey: _key, ...given } = RUN;
    const unset = { takenBy: undefined, leaseUntil: undefined, endedAt: undefined, outcome: undefined };
    assert.deepEqual(rest, { ...given, ...unset, lock: undefined, detail: undefined, tries: 0 });
    assert.equal(expiresAt.getTime() - at.getTime(), HOUR_MS);
    assert.ok(dueAt <= now);
    assert.deepEqual(await find(store, RUN.id), found);
  },

  async 'an act is taken from the start, waits for no instance, and ends by its owner'({ store }) {
    assert.equal(await store.add(PAUSE, LIMIT), true);
    assert.equal(await store.add(PAUSE, LIMIT), false, 'no two have one id');
    assert.deepEqual((await store.pending('run', LIMIT)).acts, []);
    const { leaseMs, ...given } = PAUSE;
    const found = await find(store, 'p1');
    assert.ok(found?.leaseUntil);
    const { at, dueAt: _due, expiresAt: _expires, leaseUntil, ...rest } = found;
    const unset = { scope: '', periodKey: undefined, endedAt: undefined, outcome: undefined };
    assert.deepEqual(rest, { ...given, ...unset, tries: 0 });
    assert.equal(leaseUntil.getTime() - at.getTime(), leaseMs);
    assert.equal(await store.change('p1', 'host/2/x', { state: 'done' }, LIMIT), false);
    assert.equal(
      await store.change('p1', 'host/1/x', { state: 'refused', outcome: 'it is free' }, LIMIT),
      true,
    );
    const ended = await find(store, 'p1');
    assert.deepEqual([ended?.state, ended?.outcome, ended?.leaseUntil], ['refused', 'it is free', undefined]);
    assert.ok(ended?.endedAt);
  },

  async 'a store without acts returns none, and its current time'({ store }) {
    const { now, acts } = await store.pending('run', LIMIT);
    assert.deepEqual(acts, []);
    assert.ok(now instanceof Date);
    assert.deepEqual(await store.list({ limit: 10 }, LIMIT), []);
  },

  async 'of two operators at once, one gets the open row, 40 times'({ store }) {
    for (let round = 0; round < 40; round += 1) {
      const added = await Promise.all(
        ['a', 'b'].map((who) => store.add({ ...RUN, id: `${who}${round}`, actor: who }, LIMIT)),
      );
      assert.deepEqual(added.map(Number).sort(), [0, 1]);
      const { acts } = await store.pending('run', LIMIT);
      assert.equal(acts.length, 1);
      const [{ id } = { id: '' }] = acts;
      assert.equal(id, `${added[0] ? 'a' : 'b'}${round}`);
      assert.ok(await store.take(id, { owner: 'host/1/x', leaseMs: HOUR_MS }, LIMIT));
      assert.ok(await store.change(id, 'host/1/x', { state: 'done' }, LIMIT));
    }
    assert.equal((await store.list({ limit: 1000 }, LIMIT)).length, 40);
  },

  async 'of twenty that take one request, one succeeds, and only it can change it'({ store, elapse }) {
    await store.add(RUN, LIMIT);
    const owners = Array.from({ length: 20 }, (_, number) => `host/${number}/x`);
    const taken = await Promise.all(
      owners.map((owner) => store.take(RUN.id, { owner, leaseMs: HOUR_MS }, LIMIT)),
    );
    assert.equal(taken.filter(Boolean).length, 1);
    const winner = owners[taken.indexOf(true)] ?? '';
    const loser = owners[taken.indexOf(false)] ?? '';
    assert.equal((await find(store, RUN.id))?.takenBy, winner);
    assert.equal(await store.change(RUN.id, loser, { state: 'done' }, LIMIT), false);
    await elapse(HOUR_MS - 1000);
    assert.equal(await store.take(RUN.id, { owner: loser, leaseMs: 1 }, LIMIT), false, 'its lease is live');
    assert.equal(await store.change(RUN.id, winner, { state: 'taken', afterMs: HOUR_MS }, LIMIT), true);
    await elapse(HOUR_MS - 1000);
    assert.equal(await store.take(RUN.id, { owner: loser, leaseMs: 1 }, LIMIT), false, 'it was renewed');
    assert.equal(await store.add({ ...RUN, id: 'r2' }, LIMIT), false, 'it has not ended');
    await elapse(2000);
    assert.equal(await store.add({ ...RUN, id: 'r2' }, LIMIT), false, 'it is taken, though expired');
    assert.deepEqual(
      (await store.pending('run', LIMIT)).acts.map(({ id }) => id),
      [RUN.id],
    );
    assert.equal(await store.take(RUN.id, { owner: loser, leaseMs: HOUR_MS }, LIMIT), true, 'it has expired');
    assert.equal(await store.change(RUN.id, winner, { state: 'done' }, LIMIT), false);
    assert.equal((await find(store, RUN.id))?.tries, 2);
  },

  async 'a request that was given back is due again after its delay'({ store, elapse }) {
    await store.add(RUN, LIMIT);
    const owner = 'host/1/x';
    await store.take(RUN.id, { owner, leaseMs: HOUR_MS }, LIMIT);
    const again = { state: 'open', afterMs: 60_000, outcome: 'locked' } as const;
    assert.equal(await store.change(RUN.id, owner, again, LIMIT), true);
    assert.equal((await find(store, RUN.id))?.outcome, 'locked');
    assert.equal(await store.add({ ...RUN, id: 'r2' }, LIMIT), false, 'it is open again');
    assert.equal(await store.take(RUN.id, { owner, leaseMs: 1 }, LIMIT), false);
    await elapse(61_000);
    assert.equal(await store.take(RUN.id, { owner, leaseMs: HOUR_MS }, LIMIT), true);
    assert.equal(await store.change(RUN.id, owner, { state: 'failed', outcome: 'no bank' }, LIMIT), true);
    const ended = await find(store, RUN.id);
    assert.deepEqual([ended?.state, ended?.outcome, ended?.tries], ['failed', 'no bank', 2]);
    assert.ok(ended?.endedAt);
    assert.deepEqual((await store.pending('run', LIMIT)).acts, []);
    assert.equal(await store.take(RUN.id, { owner, leaseMs: 1 }, LIMIT), false, 'it has ended');
    assert.equal(await store.add({ ...RUN, id: 'r2' }, LIMIT), true);
  },

  async 'a request that has expired frees its key, and stays in the list'({ store, elapse }) {
    const second = { ...RUN, id: 'r2', actor: 'bob', periodKey: undefined };
    await store.add(RUN, LIMIT);
    assert.equal(await store.add(second, LIMIT), false);
    await elapse(HOUR_MS + 1000);
    assert.deepEqual((await store.pending('run', LIMIT)).acts, [], 'it has expired');
    assert.equal(await store.take(RUN.id, { owner: 'x', leaseMs: 1 }, LIMIT), false);
    assert.equal(await store.add(second, LIMIT), true);
    assert.deepEqual(await idsOf(store.list({ limit: 10 }, LIMIT)), ['r2', 'r1']);
    assert.equal((await find(store, 'r1'))?.state, 'open');
    assert.equal(await store.take(RUN.id, { owner: 'x', leaseMs: 1 }, LIMIT), false, 'only the second waits');
    assert.equal(await store.take('r2', { owner: 'x', leaseMs: 1 }, LIMIT), true);
  },

  async 'acts are listed by job, lock, time, verb, scope and period, the newest first'({ store, elapse }) {
    const acts: readonly NewAct[] = [
      RUN,
      { ...RUN, id: 'r2', scope: 'us', openKey: 'run of us' },
      { ...RUN, id: 'upper', job: RUN.job.toUpperCase(), openKey: 'run of EU' },
      PAUSE,
      { ...PAUSE, id: 'p2', verb: 'resume', job: undefined },
      { ...PAUSE, id: 'p3', lock: 'other' },
      { ...PAUSE, id: 'done', verb: 'purge', job: undefined, lock: undefined, state: 'done' },
    ];
    for (const act of acts) {
      assert.equal(await store.add(act, LIMIT), true);
      await elapse(60_000);
    }
    const { now } = await store.pending('run', LIMIT);
    const listed = (query: object) => idsOf(store.list({ limit: 10, ...query }, LIMIT));
    const all = acts.map(({ id }) => id).reverse();
    assert.deepEqual(await listed({}), all);
    assert.deepEqual(await listed({ limit: 2 }), ['done', 'p3']);
    assert.deepEqual(await listed({ since: new Date(now.getTime() - 150_000) }), ['done', 'p3']);
    assert.deepEqual(await listed({ job: RUN.job }), ['r2', 'r1']);
    assert.deepEqual(await listed({ job: RUN.job, scope: 'eu' }), ['r1']);
    assert.deepEqual(await listed({ job: 'report' }), ['p3', 'p1']);
    assert.deepEqual(await listed({ lock: 'reports' }), ['p2', 'p1']);
    assert.deepEqual(await listed({ job: 'report', lock: 'reports' }), ['p3', 'p2', 'p1']);
    assert.deepEqual(await listed({ verb: 'pause' }), ['p3', 'p1']);
    assert.deepEqual(await listed({ verb: 'run', job: RUN.job, limit: 1 }), ['r2']);
    assert.deepEqual(await listed({ periodKey: '2026-11-20', limit: 2 }), ['upper', 'r2']);
    assert.equal((await find(store, 'done'))?.state, 'done');
  },

  async 'a purge deletes acts that ended long ago, and none that waits'({ store, elapse }) {
    const owner = 'host/1/x';
    const waits = { ...RUN, id: 'waits', openKey: 'another', expiresInMs: 10 * HOUR_MS };
    for (const act of [RUN, PAUSE, waits]) await store.add(act, LIMIT);
    await store.take(RUN.id, { owner, leaseMs: HOUR_MS }, LIMIT);
    for (const { id } of [RUN, PAUSE]) await store.change(id, owner, { state: 'done' }, LIMIT);
    await store.purge(HOUR_MS, LIMIT);
    assert.ok(await find(store, 'p1'));
    await elapse(HOUR_MS + 1000);
    await store.purge(HOUR_MS, LIMIT);
    assert.deepEqual(await idsOf(store.list({ limit: 10 }, LIMIT)), ['waits']);
  },

  async 'a purge deletes what has expired, and acts whose process died'({ store, elapse }) {
    for (const act of [RUN, PAUSE]) await store.add(act, LIMIT);
    await elapse(HOUR_MS + 1000);
    await store.purge(HOUR_MS, LIMIT);
    assert.deepEqual((await idsOf(store.list({ limit: 10 }, LIMIT))).sort(), ['p1', 'r1'], 'not long ago');
    await elapse(HOUR_MS);
    await store.purge(HOUR_MS, LIMIT);
    assert.deepEqual(await store.list({ limit: 10 }, LIMIT), []);
  },
};

for (const [name, promise] of Object.entries(PROMISES)) {
  void test(`memory: ${name}`, async () => {
    const clock = new SettableClock();
    const store = new RunsAndActs({ clock }).acts;
    await promise({ store, elapse: (milliseconds) => Promise.resolve(clock.advance(milliseconds)) });
  });

  testRunStores(name, async ({ application, store }) => {
    const elapse = (milliseconds: number): Promise<void> => shiftActsBack(application, milliseconds);
    await promise({ store: store.acts, elapse });
  });
}

testRunStores('1,000 notices and more hide no act, and wait the earliest due first', async ({ store }) => {
  const { acts, notices } = store;
  await acts.add(RUN, LIMIT);
  for (let number = 0; number < 1005; number += 1) {
    const notice = {
      ...RUN,
      id: `n${number}.0`,
      openKey: `n${number}.0`,
      verb: 'notice',
      periodKey: undefined,
    };
    await notices.add({ ...notice, dueInMs: number === 1004 ? 0 : HOUR_MS, expiresInMs: 2 * HOUR_MS }, LIMIT);
  }
  const waiting = (await notices.pending('notice', LIMIT)).acts;
  assert.deepEqual([waiting.length, waiting[0]?.id], [1000, 'n1004.0']);
  assert.deepEqual(
    (await acts.pending('run', LIMIT)).acts.map(({ id }) => id),
    [RUN.id],
  );
  assert.deepEqual(await idsOf(acts.list({ limit: 10 }, LIMIT)), [RUN.id]);
});

testRunStores('an error about a request names its job and scope', async ({ store }) => {
  const { acts } = store;
  await acts.add(RUN, LIMIT);
  await acts.pending('run', LIMIT);
  await store.close();
  const take = acts.take(RUN.id, { owner: 'host/1/x', leaseMs: 1000 }, LIMIT);
  const { message } = await take.then(
    () => assert.fail('it is closed'),
    (error: Error) => error,
  );
  assert.ok(message.includes(`the act 'run' on job '${RUN.job}' (eu)`), message);
});
