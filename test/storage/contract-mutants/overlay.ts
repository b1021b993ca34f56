import type { LockProvider } from 'cronlatch/provider';

/** A mistake of a provider with a correct store, and a case that must catch it. */
export interface BrokenProvider {
  readonly does: string;
  readonly caughtBy: string;
  readonly breaks: (provider: LockProvider) => Partial<LockProvider>;
}

/** `object`, with the members of `change` in place of its own. */
export function overlay<T extends object>(object: T, change: Partial<T>): T {
  return new Proxy(object, {
    get(target, key) {
      const value: unknown = key in change ? Reflect.get(change, key) : Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
