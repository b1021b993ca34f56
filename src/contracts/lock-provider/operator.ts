import assert from 'node:assert/strict';
import { InvalidLockConfigurationError, type LockProvider, type LockState } from '../../core';
import { AT_LEAST, JOB, assertRising, expired, granted, inTime, refused, released } from './assertions';
import { type OptionalMethod, needing } from './fixture';

const [OPERATOR, ANOTHER_OPERATOR] = ['hold/contract/first', 'hold/contract/second'];

export const operator = [
  ...needing(['inspect'], (test) => [
    test('a lock that was never granted has no state, and a held one shows its holder (P1)', async (c) => {
      assert.equal(await inspect(c.other), undefined);
      const lock = await granted(c.provider);
      const state = await inspect(c.other);
      assert.ok(state !== undefined, 'a held lock should have a state');
      assert.equal(state.name, JOB.name);
      assert.equal(state.isHeld, true);
      assert.notEqual(state.lockedBy, '');
      assert.equal(state.fencingToken, lock.fencingToken);
      const { lockedAt, lockUntil } = state;
      const leaseMs = lockedAt === undefined ? 600_000 : lockUntil.getTime() - lockedAt.getTime();
      assert.ok(Math.abs(leaseMs - 600_000) <= 1000, 'lockedAt is the time of the grant');
    }),

    test('a released or expired lock is shown as free, or not at all (P4)', async (c) => {
      await released(c.provider);
      assert.equal((await inspect(c.other))?.isHeld ?? false, false);
      await expired(c);
      assert.equal((await inspect(c.other))?.isHeld ?? false, false);
    }),
  ]),

  ...needing(['list'], (test) => [
    test('held locks are listed once each, part by part, without the free ones (P1)', async (c) => {
      await (await granted(c.provider, { ...JOB, name: 'contract-free' })).unlock();
      const names = Array.from({ length: 5 }, (_, i) => `contract-${i}`);
      for (const name of names.toReversed()) await granted(c.provider, { ...JOB, name });
      const listed: string[] = [];
      for (let after: string | undefined; ; after = listed.at(-1)) {
        const page = await methodOf(c.other, 'list')({ after, limit: 2, held: true });
        assert.ok(page.length <= 2, 'a page should keep its limit');
        assert.ok(!page.some(({ isHeld }) => !isHeld), 'each of these locks is held');
        if (page.length === 0) break;
        listed.push(...page.map(({ name }) => name));
        assert.ok(listed.length <= names.length, 'no lock should be listed twice');
      }
      assert.deepEqual(listed.sort(), names);
    }),
  ]),

  ...needing(['inspect', 'forceRelease'], (test) => [
    test('a lock released by force is free, even during lockAtLeastFor, and its holder learns it (P1, P2, P6)', async (c) => {
      const stale = await granted(c.provider, AT_LEAST);
      await releaseByForce(c.other);
      await granted(c.other);
      assert.equal(await stale.extend('1h'), false);
      assert.equal(stale.signal.aborted, true);
      assert.equal(await stale.unlock(), false);
      await refused(c.provider);
    }),

    test('a forced release of another holder or of a free lock changes nothing (P6)', async (c) => {
      const first = await granted(c.provider);
      const holder = (await inspect(c.other))?.lockedBy ?? '';
      await first.unlock();
      assert.equal(await forceRelease(c.other, holder), false);
      const second = await granted(c.provider);
      assert.equal(await forceRelease(c.other, holder), false);
      await refused(c.other);
      assert.equal(await second.unlock(), true);
    }),
  ]),

  ...needing(['inspect', 'forceRelease', 'fencingTokens'], (test) => [
    test('the grant after a forced release has a higher token (P3)', async (c) => {
      const first = await granted(c.provider);
      await releaseByForce(c.other);
      await c.elapse(1);
      assertRising([first, await granted(c.other)]);
    }),
  ]),

  ...needing(['hold'], (test) => [
    test('a lock held by an operator is refused to every instance until its end (P1, P4)', async (c) => {
      assert.equal(await hold(c.provider, OPERATOR), true);
      await refused(c.provider);
      await refused(c.other);
      await c.elapse('10m');
      await granted(c.other);
    }),

    test('a hold of a lock that another owner holds changes nothing (P1, P6)', async (c) => {
      const lock = await granted(c.provider);
      assert.equal(await hold(c.other, OPERATOR), false);
      assert.equal(await lock.extend('10m'), true);
      assert.equal(await lock.unlock(), true);
      assert.equal(await hold(c.other, OPERATOR), true);
      assert.equal(await hold(c.provider, ANOTHER_OPERATOR), false);
    }),

    test('a hold with an invalid name or duration is refused as invalid (P7)', async (c) => {
      for (const wrong of [{ name: ' ' }, { lockAtMostFor: '0s' }, { lockAtMostFor: '366d' }])
        await assert.rejects(hold(c.provider, OPERATOR, wrong), InvalidLockConfigurationError);
      await granted(c.provider);
    }),
  ]),

  ...needing(['hold', 'inspect', 'forceRelease'], (test) => [
    test('a hold shows its owner, who alone can be released (P6)', async (c) => {
      assert.equal(await hold(c.provider, OPERATOR), true);
      const state = await inspect(c.other);
      assert.equal(state?.lockedBy, OPERATOR);
      assert.equal(state.isHeld, true);
      assert.equal(await forceRelease(c.other, ANOTHER_OPERATOR), false);
      assert.equal(await forceRelease(c.other, OPERATOR), true);
      await granted(c.provider);
    }),
  ]),

  ...needing(['hold', 'inspect', 'forceRelease', 'fencingTokens'], (test) => [
    test('a hold raises the token like any grant (P3)', async (c) => {
      const first = await released(c.provider);
      await c.elapse(1);
      await hold(c.other, OPERATOR);
      const held = (await inspect(c.provider))?.fencingToken ?? NaN;
      await releaseByForce(c.other);
      await c.elapse(1);
      assertRising([first, held, await granted(c.provider)]);
    }),
  ]),

  ...needing(['released'], (test) => [
    test('a release wakes a waiter (P4)', async (c) => {
      const lock = await granted(c.provider);
      const wait = methodOf(c.other, 'released')(JOB.name, new AbortController().signal);
      await lock.unlock();
      await inTime(wait, 'A release did not wake a waiter');
      await granted(c.other);
    }),

    test('a waiter that stops waiting is not kept (P4)', async (c) => {
      await granted(c.provider);
      const stop = new AbortController();
      const wait = methodOf(c.other, 'released')(JOB.name, stop.signal);
      stop.abort();
      await inTime(wait, 'A waiter did not stop when its signal aborted');
      await refused(c.other);
    }),
  ]),
];

function methodOf<M extends OptionalMethod>(provider: LockProvider, name: M): NonNullable<LockProvider[M]> {
  const method = provider[name];
  assert.ok(method !== undefined, `The provider should have a method ${name}.`);
  return method.bind(provider) as NonNullable<LockProvider[M]>;
}

async function inspect(provider: LockProvider): Promise<LockState | undefined> {
  return await methodOf(provider, 'inspect')(JOB.name);
}

async function hold(provider: LockProvider, owner: string, wrong = {}): Promise<boolean> {
  const { name, ...request } = { name: JOB.name, lockAtMostFor: '10m', owner, ...wrong };
  return await methodOf(provider, 'hold')(name, request);
}

async function forceRelease(provider: LockProvider, owner: string): Promise<boolean> {
  return await methodOf(provider, 'forceRelease')(JOB.name, owner);
}

async function releaseByForce(provider: LockProvider): Promise<void> {
  const state = await inspect(provider);
  assert.ok(state?.isHeld, 'the lock should be held');
  assert.equal(await forceRelease(provider, state.lockedBy), true, 'the holder should have lost its lock');
}
