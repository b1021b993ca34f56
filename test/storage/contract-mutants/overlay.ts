import type { LockProvider } from 'cronlatch/provider';

/** What a provider could get wrong although its store is right, and a case that must notice. */
export interface BrokenProvider {
  readonly does: string;
  readonly caughtBy: string;
  readonly breaks: (provider: LockProvider) => Partial<LockProvider>;
}

/** What `change` does not have, `object` has, as its own. */
export function overlay<T extends object>(object: T, change: Partial<T>): T {
  return new Proxy(object, {
    get(target, key) {
      const value: unknown = key in change ? Reflect.get(change, key) : Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
