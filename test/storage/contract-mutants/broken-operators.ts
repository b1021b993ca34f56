import type { BrokenProvider } from './overlay';

/** Mistakes of the methods that operators and waiters use. */
export const BROKEN_OPERATORS: readonly BrokenProvider[] = [
  {
    does: 'shows no lock',
    caughtBy: 'a lock that was never granted has no state, and a held one shows its holder (P1)',
    breaks: () => ({ inspect: () => Promise.resolve(undefined) }),
  },
  {
    does: 'shows every lock as held',
    caughtBy: 'a released or expired lock is shown as free, or not at all (P4)',
    breaks: (provider) => ({
      async inspect(name) {
        const state = await provider.inspect?.(name);
        return state && { ...state, isHeld: true };
      },
    }),
  },
  {
    does: 'lists the first locks again and again',
    caughtBy: 'held locks are listed once each, part by part, without the free ones (P1)',
    breaks: (provider) => ({ list: async ({ limit }) => (await provider.list?.({ limit })) ?? [] }),
  },
  {
    does: 'lists free locks as well',
    caughtBy: 'held locks are listed once each, part by part, without the free ones (P1)',
    breaks: (provider) => ({ list: async (page) => (await provider.list?.({ ...page, held: false })) ?? [] }),
  },
  {
    does: 'releases nothing by force',
    caughtBy: 'a lock released by force is granted to another instance, even during lockAtLeastFor (P1)',
    breaks: () => ({ forceRelease: () => Promise.resolve(true) }),
  },
  {
    does: 'releases any holder by force',
    caughtBy: 'a forced release of another holder or of a free lock changes nothing (P6)',
    breaks: (provider) => ({
      async forceRelease(name) {
        const state = await provider.inspect?.(name);
        return (await provider.forceRelease?.(name, state?.lockedBy ?? '')) ?? false;
      },
    }),
  },
  {
    does: 'takes no lock for an operator',
    caughtBy: 'a lock held by an operator is refused to every instance until its end (P1, P4)',
    breaks: () => ({ hold: () => Promise.resolve(true) }),
  },
  {
    does: 'takes a lock for an operator for twice the time',
    caughtBy: 'a lock held by an operator is refused to every instance until its end (P1, P4)',
    breaks: (provider) => ({
      hold: async (name, { owner }) =>
        (await provider.hold?.(name, { owner, lockAtMostFor: '20m' })) ?? false,
    }),
  },
  {
    does: 'takes a lock for an operator from its holder',
    caughtBy: 'a hold of a lock that another owner holds changes nothing (P1, P6)',
    breaks: (provider) => ({
      async hold(name, request) {
        await provider.forceRelease?.(name, (await provider.inspect?.(name))?.lockedBy ?? '');
        return (await provider.hold?.(name, request)) ?? false;
      },
    }),
  },
  {
    does: 'does not check what an operator holds',
    caughtBy: 'a hold with an invalid name or duration is refused as invalid (P7)',
    breaks: () => ({ hold: () => Promise.resolve(false) }),
  },
  {
    does: 'holds a lock as an owner of its own',
    caughtBy: 'a hold shows its owner, who alone can be released (P6)',
    breaks: (provider) => ({
      hold: async (name, { lockAtMostFor }) =>
        (await provider.hold?.(name, { owner: 'hold/another', lockAtMostFor })) ?? false,
    }),
  },
  {
    does: 'shows a hold with the token of the grant before it',
    caughtBy: 'a hold raises the token like any grant (P3)',
    breaks: (provider) => ({
      async inspect(name) {
        const state = await provider.inspect?.(name);
        return state && { ...state, fencingToken: 0 };
      },
    }),
  },
  {
    does: 'never wakes a waiter',
    caughtBy: 'a release wakes a waiter (P4)',
    breaks: () => ({
      released: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    }),
  },
  {
    does: 'keeps a waiter that has stopped waiting',
    caughtBy: 'a waiter that stops waiting is not kept (P4)',
    breaks: (provider) => ({
      released: async (name) => await provider.released?.(name, new AbortController().signal),
    }),
  },
];
