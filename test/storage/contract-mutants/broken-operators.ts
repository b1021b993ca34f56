import type { BrokenProvider, Mutants } from './overlay';

/** Mistakes of the methods that operators and waiters use. */
export const BROKEN_OPERATORS: Mutants<BrokenProvider> = {
  'a lock that was never granted has no state, and a held one shows its holder (P1)': {
    'shows no lock': () => ({ inspect: () => Promise.resolve(undefined) }),
  },
  'a released or expired lock is shown as free, or not at all (P4)': {
    'shows every lock as held': (provider) => ({
      async inspect(name) {
        const state = await provider.inspect?.(name);
        return state && { ...state, isHeld: true };
      },
    }),
  },
  'held locks are listed once each, part by part, without the free ones (P1)': {
    'lists the first locks again and again': (provider) => ({
      list: async ({ limit }) => (await provider.list?.({ limit })) ?? [],
    }),
    'lists free locks as well': (provider) => ({
      list: async (page) => (await provider.list?.({ ...page, held: false })) ?? [],
    }),
  },
  'a lock released by force is free, even during lockAtLeastFor, and its holder learns it (P1, P2, P6)': {
    'releases nothing by force': () => ({ forceRelease: () => Promise.resolve(true) }),
  },
  'a forced release of another holder or of a free lock changes nothing (P6)': {
    'releases any holder by force': (provider) => ({
      async forceRelease(name) {
        const state = await provider.inspect?.(name);
        return (await provider.forceRelease?.(name, state?.lockedBy ?? '')) ?? false;
      },
    }),
  },
  'a lock held by an operator is refused to every instance until its end (P1, P4)': {
    'takes no lock for an operator': () => ({ hold: () => Promise.resolve(true) }),
    'takes a lock for an operator for twice the time': (provider) => ({
      hold: async (name, { owner }) =>
        (await provider.hold?.(name, { owner, lockAtMostFor: '20m' })) ?? false,
    }),
  },
  'a hold of a lock that another owner holds changes nothing (P1, P6)': {
    'takes a lock for an operator from its holder': (provider) => ({
      async hold(name, request) {
        await provider.forceRelease?.(name, (await provider.inspect?.(name))?.lockedBy ?? '');
        return (await provider.hold?.(name, request)) ?? false;
      },
    }),
  },
  'a hold with an invalid name or duration is refused as invalid (P7)': {
    'does not check what an operator holds': () => ({ hold: () => Promise.resolve(false) }),
  },
  'a hold shows its owner, who alone can be released (P6)': {
    'holds a lock as an owner of its own': (provider) => ({
      hold: async (name, { lockAtMostFor }) =>
        (await provider.hold?.(name, { owner: 'hold/another', lockAtMostFor })) ?? false,
    }),
  },
  'a hold raises the token like any grant (P3)': {
    'shows a hold with the token of the grant before it': (provider) => ({
      async inspect(name) {
        const state = await provider.inspect?.(name);
        return state && { ...state, fencingToken: 0 };
      },
    }),
  },
  'a release wakes a waiter (P4)': {
    'never wakes a waiter': () => ({
      released: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    }),
  },
  'a waiter that stops waiting is not kept (P4)': {
    'keeps a waiter that has stopped waiting': (provider) => ({
      released: async (name) => await provider.released?.(name, new AbortController().signal),
    }),
  },
};
