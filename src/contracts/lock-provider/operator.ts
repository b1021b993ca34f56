import assert from 'node:assert/strict';
import { InvalidLockConfigurationError, type Duration, type LockProvider, type LockState } from '../../core';
import { AT_LEAST, JOB, assertRising, granted, inTime, refused, tokenOf } from './assertions';
import { needing } from './fixture';

/** What an operator can read and change. */
export const operator = [
  ...needing(['inspect'], {
    async 'a lock that was never granted has no state, and a held one shows its holder (P1)'(fixture) {
      const { provider, other } = fixture;
      assert.equal(await inspect(other, JOB.name), undefined);
      const lock = await granted(provider, JOB);
      const state = await inspect(other, JOB.name);
      assert.ok(state !== undefined, 'a held lock should have a state');
      assert.equal(state.name, JOB.name);
      assert.equal(state.isHeld, true);
      assert.notEqual(state.lockedBy, '');
      assert.equal(state.fencingToken, lock.fencingToken);
      const { lockedAt, lockUntil } = state;
      const leaseMs = lockedAt && lockUntil.getTime() - lockedAt.getTime();
      assert.ok(
        leaseMs === undefined || Math.abs(leaseMs - 600_000) <= 1000,
        'lockedAt is the time of the grant',
      );
    },

    async 'a released or expired lock is shown as free, or not at all (P4)'({ provider, other, elapse }) {
      await (await granted(provider, JOB)).unlock();
      assert.equal((await inspect(other, JOB.name))?.isHeld ?? false, false);
      await granted(provider, JOB);
      await elapse('10m');
      assert.equal((await inspect(other, JOB.name))?.isHeld ?? false, false);
    },
  }),

  ...needing(['list'], {
    async 'held locks are listed once each, part by part (P1)'({ provider, other }) {
      const names = Array.from({ length: 5 }, (_, i) => `contract-${i}`);
      for (const name of names.toReversed()) await granted(provider, { ...JOB, name });
      const listed: string[] = [];
      for (let after: string | undefined; ; after = listed.at(-1)) {
        const page = (await other.list?.({ after, limit: 2 })) ?? [];
        assert.ok(page.length <= 2, 'a page should keep its limit');
        assert.ok(
          page.every(({ isHeld }) => isHeld),
          'each of these locks is held',
        );
        if (page.length === 0) break;
        listed.push(...page.map(({ name }) => name));
        assert.ok(listed.length <= names.length, 'no lock should be listed twice');
      }
      assert.deepEqual(listed.sort(), names);
    },
  }),

  ...needing(['inspect', 'forceRelease'], {
    async 'a lock released by force is granted to another instance, even during lockAtLeastFor (P1)'({
      provider,
      other,
    }) {
      await granted(provider, AT_LEAST);
      assert.equal(await forceRelease(other, AT_LEAST.name), true);
      await granted(other, JOB);
      await refused(provider, JOB);
    },

    async 'a holder whose lock was released by force learns it, and changes nothing (P2, P6)'(fixture) {
      const { provider, other } = fixture;
      const stale = await granted(provider, JOB);
      assert.equal(await forceRelease(other, JOB.name), true);
      await granted(other, JOB);
      assert.equal(await stale.extend('1h'), false);
      assert.equal(stale.signal.aborted, true);
      assert.equal(await stale.unlock(), false);
      await refused(provider, JOB);
    },

    async 'a forced release of another holder or of a free lock changes nothing (P6)'({ provider, other }) {
      const first = await granted(provider, JOB);
      const holder = (await inspect(other, JOB.name))?.lockedBy ?? '';
      await first.unlock();
      assert.equal(await other.forceRelease?.(JOB.name, holder), false);
      const second = await granted(provider, JOB);
      assert.equal(await other.forceRelease?.(JOB.name, holder), false);
      await refused(other, JOB);
      assert.equal(await second.unlock(), true);
    },
  }),

  ...needing(['inspect', 'forceRelease', 'fencingTokens'], {
    async 'the grant after a forced release has a higher token (P3)'({ provider, other, elapse }) {
      const first = tokenOf(await granted(provider, JOB));
      await forceRelease(other, JOB.name);
      await elapse(1);
      assertRising([first, tokenOf(await granted(other, JOB))]);
    },
  }),

  ...needing(['hold'], {
    async 'a lock held by an operator is refused to every instance until its end (P1, P4)'(fixture) {
      const { provider, other, elapse } = fixture;
      assert.equal(await hold(provider, 'hold/contract/first'), true);
      await refused(provider, JOB);
      await refused(other, JOB);
      await elapse('10m');
      await granted(other, JOB);
    },

    async 'a hold of a lock that another owner holds changes nothing (P1, P6)'({ provider, other }) {
      const lock = await granted(provider, JOB);
      assert.equal(await hold(other, 'hold/contract/first'), false);
      assert.equal(await lock.extend('10m'), true);
      assert.equal(await lock.unlock(), true);
      assert.equal(await hold(other, 'hold/contract/first'), true);
      assert.equal(await hold(provider, 'hold/contract/second'), false);
    },

    async 'a hold with an invalid name or duration is refused as invalid (P7)'({ provider }) {
      for (const wrong of [{ name: ' ' }, { lockAtMostFor: '0s' }, { lockAtMostFor: '366d' }]) {
        const held = hold(provider, 'hold/contract/first', { ...JOB, ...wrong });
        await assert.rejects(held, InvalidLockConfigurationError);
      }
      await granted(provider, JOB);
    },
  }),

  ...needing(['hold', 'inspect', 'forceRelease'], {
    async 'a hold shows its owner, who alone can be released (P6)'({ provider, other }) {
      assert.equal(await hold(provider, 'hold/contract/first'), true);
      const state = await inspect(other, JOB.name);
      assert.equal(state?.lockedBy, 'hold/contract/first');
      assert.equal(state.isHeld, true);
      assert.equal(await other.forceRelease?.(JOB.name, 'hold/contract/second'), false);
      assert.equal(await other.forceRelease?.(JOB.name, 'hold/contract/first'), true);
      await granted(provider, JOB);
    },
  }),

  ...needing(['hold', 'inspect', 'forceRelease', 'fencingTokens'], {
    async 'a hold raises the token like any grant (P3)'({ provider, other, elapse }) {
      const lock = await granted(provider, JOB);
      const first = tokenOf(lock);
      await lock.unlock();
      await elapse(1);
      await hold(other, 'hold/contract/first');
      const held = (await inspect(provider, JOB.name))?.fencingToken ?? NaN;
      await forceRelease(other, JOB.name);
      await elapse(1);
      assertRising([first, held, tokenOf(await granted(provider, JOB))]);
    },
  }),

  ...needing(['released'], {
    async 'a release wakes a waiter (P4)'({ provider, other }) {
      const lock = await granted(provider, JOB);
      const released = untilReleased(other, new AbortController().signal);
      await lock.unlock();
      await inTime(released, 'A release did not wake a waiter');
      await granted(other, JOB);
    },

    async 'a waiter that stops waiting is not kept (P4)'({ provider, other }) {
      await granted(provider, JOB);
      const stop = new AbortController();
      const released = untilReleased(other, stop.signal);
      stop.abort();
      await inTime(released, 'A waiter did not stop when its signal aborted');
      await refused(other, JOB);
    },
  }),
];

function inspect(provider: LockProvider, name: string): Promise<LockState | undefined> {
  return provider.inspect?.(name) ?? Promise.reject(new Error('The provider should have a method inspect.'));
}

function hold(
  provider: LockProvider,
  owner: string,
  { name, lockAtMostFor }: { readonly name: string; readonly lockAtMostFor: Duration } = JOB,
): Promise<boolean> {
  return (
    provider.hold?.(name, { owner, lockAtMostFor }) ??
    Promise.reject(new Error('The provider should have a method hold.'))
  );
}

function untilReleased(provider: LockProvider, signal: AbortSignal): Promise<void> {
  return (
    provider.released?.(JOB.name, signal) ??
    Promise.reject(new Error('The provider should have a method released.'))
  );
}

/** Releases the lock of its current holder. */
async function forceRelease(provider: LockProvider, name: string): Promise<boolean> {
  const state = await inspect(provider, name);
  assert.ok(state?.isHeld, 'the lock should be held');
  return (await provider.forceRelease?.(name, state.lockedBy)) ?? false;
}
