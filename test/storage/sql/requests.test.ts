import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SettableClock } from 'cronlatch/testing';
import type { NewRequest, RequestStore } from '#cronlatch/ledger/request-store';
import { testRunStores } from '../../support/benches/run-store';
import { RunsAndRequests } from '../../support/stores/in-memory-requests';
import { shiftRequestsBack } from '../../support/databases/run-tables';

const LIMIT = { timeoutMs: 10_000 };
const HOUR_MS = 3_600_000;
const RUN: NewRequest = {
  ...{ id: 'r1', kind: 'run', job: `it's "eu" \\ 日本 :job`, scope: 'eu', periodKey: '2026-11-20' },
  ...{ actor: 'anne', reason: 'the bank was late', dueInMs: 0, expiresInMs: HOUR_MS },
};
const NOTICE: NewRequest = { ...RUN, id: 'n1', kind: 'notice', periodKey: undefined, reason: '{}' };

interface Place {
  readonly store: RequestStore;
  /** Lets time pass for the requests. */
  readonly elapse: (milliseconds: number) => Promise<void>;
}

/** What every store promises, in memory and in a database. */
const PROMISES: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  async 'a request is returned with all that it was added with'({ store }) {
    assert.equal(await store.add(RUN, LIMIT), true);
    const { now, requests } = await store.pending(LIMIT);
    const [found, ...others] = requests;
    assert.ok(found);
    assert.deepEqual(others, []);
    const { createdAt, dueAt, expiresAt, ...rest } = found;
    const { dueInMs: _due, expiresInMs: _expires, ...given } = RUN;
    const unset = { takenBy: undefined, leaseUntil: undefined, endedAt: undefined, outcome: undefined };
    assert.deepEqual(rest, { ...given, ...unset, state: 'open', attempt: 0 });
    assert.equal(expiresAt.getTime() - createdAt.getTime(), HOUR_MS);
    assert.ok(dueAt <= now);
    assert.deepEqual(await store.find(RUN.id, LIMIT), found);
    assert.equal(await store.find('R1', LIMIT), undefined);
  },

  async 'a store without requests returns none, and its current time'({ store }) {
    const { now, requests } = await store.pending(LIMIT);
    assert.deepEqual(requests, []);
    assert.ok(now instanceof Date);
  },

  async 'of twenty that add one request, one succeeds'({ store }) {
    const added = await Promise.all(
      Array.from({ length: 20 }, () => store.add(RUN, { ...LIMIT, replaces: true })),
    );
    assert.equal(added.filter(Boolean).length, 1);
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
    assert.equal((await store.find(RUN.id, LIMIT))?.takenBy, winner);
    assert.equal(await store.change(RUN.id, loser, { state: 'completed' }, LIMIT), false);
    await elapse(HOUR_MS - 1000);
    assert.equal(await store.take(RUN.id, { owner: loser, leaseMs: 1 }, LIMIT), false, 'its lease is live');
    assert.equal(await store.change(RUN.id, winner, { state: 'taken', afterMs: HOUR_MS }, LIMIT), true);
    await elapse(HOUR_MS - 1000);
    assert.equal(await store.take(RUN.id, { owner: loser, leaseMs: 1 }, LIMIT), false, 'it was renewed');
    await elapse(2000);
    assert.equal(await store.take(RUN.id, { owner: loser, leaseMs: HOUR_MS }, LIMIT), true, 'it has expired');
    assert.equal(await store.change(RUN.id, winner, { state: 'completed' }, LIMIT), false);
    assert.equal((await store.find(RUN.id, LIMIT))?.attempt, 2);
  },

  async 'a request that was given back is due again after its delay'({ store, elapse }) {
    await store.add(RUN, LIMIT);
    const owner = 'host/1/x';
    await store.take(RUN.id, { owner, leaseMs: HOUR_MS }, LIMIT);
    const again = { state: 'open', afterMs: 60_000, outcome: 'locked' } as const;
    assert.equal(await store.change(RUN.id, owner, again, LIMIT), true);
    assert.equal((await store.find(RUN.id, LIMIT))?.outcome, 'locked');
    assert.equal(await store.take(RUN.id, { owner, leaseMs: 1 }, LIMIT), false);
    await elapse(61_000);
    assert.equal(await store.take(RUN.id, { owner, leaseMs: HOUR_MS }, LIMIT), true);
    assert.equal(await store.change(RUN.id, owner, { state: 'failed', outcome: 'no bank' }, LIMIT), true);
    const ended = await store.find(RUN.id, LIMIT);
    assert.deepEqual([ended?.state, ended?.outcome, ended?.attempt], ['failed', 'no bank', 2]);
    assert.ok(ended?.endedAt);
    assert.deepEqual((await store.pending(LIMIT)).requests, []);
    assert.equal(await store.take(RUN.id, { owner, leaseMs: 1 }, LIMIT), false, 'it has ended');
  },

  async 'a request that has ended or expired can be replaced, and no other'({ store, elapse }) {
    const replacing = { ...LIMIT, replaces: true };
    const second = { ...RUN, actor: 'bob', periodKey: undefined };
    await store.add(RUN, LIMIT);
    assert.equal(await store.add(second, replacing), false);
    await elapse(HOUR_MS + 1000);
    assert.deepEqual((await store.pending(LIMIT)).requests, [], 'it has expired');
    assert.equal(await store.take(RUN.id, { owner: 'x', leaseMs: 1 }, LIMIT), false);
    assert.equal(await store.add(second, LIMIT), false);
    assert.equal(await store.add(second, replacing), true);
    const found = await store.find(RUN.id, LIMIT);
    assert.deepEqual([found?.actor, found?.periodKey, found?.state], ['bob', undefined, 'open']);
    await store.take(RUN.id, { owner: 'x', leaseMs: HOUR_MS }, LIMIT);
    await store.change(RUN.id, 'x', { state: 'skipped', outcome: 'calendar' }, LIMIT);
    assert.equal(await store.add(RUN, replacing), true);
    const again = await store.find(RUN.id, LIMIT);
    assert.deepEqual(
      [again?.state, again?.attempt, again?.endedAt, again?.outcome, again?.takenBy],
      ['open', 0, undefined, undefined, undefined],
    );
  },

  async 'a purge deletes old notices that have ended'({ store, elapse }) {
    const owner = 'host/1/x';
    for (const request of [RUN, NOTICE, { ...NOTICE, id: 'n2' }]) {
      await store.add(request, LIMIT);
      if (request.id === 'n2') continue;
      await store.take(request.id, { owner, leaseMs: HOUR_MS }, LIMIT);
      await store.change(request.id, owner, { state: 'completed' }, LIMIT);
    }
    await store.purge(HOUR_MS, LIMIT);
    assert.ok(await store.find('n1', LIMIT));
    await elapse(HOUR_MS + 1000);
    await store.purge(HOUR_MS, LIMIT);
    const left = await Promise.all(['r1', 'n1', 'n2'].map((id) => store.find(id, LIMIT)));
    assert.deepEqual(
      left.map((request) => request?.id),
      ['r1', undefined, 'n2'],
    );
  },
};

for (const [name, promise] of Object.entries(PROMISES)) {
  void test(`memory: ${name}`, async () => {
    const clock = new SettableClock();
    const store = new RunsAndRequests({ clock }).requests;
    await promise({ store, elapse: (milliseconds) => Promise.resolve(clock.advance(milliseconds)) });
  });

  testRunStores(name, async ({ application, store }) => {
    const elapse = (milliseconds: number): Promise<void> => shiftRequestsBack(application, milliseconds);
    await promise({ store: store.requests, elapse });
  });
}

testRunStores('an error about a request names its job and scope', async ({ store }) => {
  const { requests } = store;
  await requests.add(RUN, LIMIT);
  await requests.pending(LIMIT);
  await store.close();
  const take = requests.take(RUN.id, { owner: 'host/1/x', leaseMs: 1000 }, LIMIT);
  const { message } = await take.then(
    () => assert.fail('it is closed'),
    (error: Error) => error,
  );
  assert.ok(message.includes(`the request to run job '${RUN.job}' (eu)`), message);
});
