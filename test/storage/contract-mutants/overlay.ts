import type { LockProvider } from 'cronlatch/provider';

/** Mistakes, by what they do, below the contract's case that must catch them. */
export type Mutants<Mistake> = Readonly<Record<string, Readonly<Record<string, Mistake>>>>;

/** A mistake of a provider with a correct store. */
export type BrokenProvider = (provider: LockProvider) => Partial<LockProvider>;

/** Each mistake with a sentence about it, its case, and the place that makes it. */
export function mutantsOf<Mistake, Place>(
  kind: 'store' | 'provider',
  tables: readonly Mutants<Mistake>[],
  placeWith: (mistake: Mistake) => Place,
): { readonly mutant: string; readonly caughtBy: string; readonly create: () => Place }[] {
  return tables
    .flatMap((table) => Object.entries(table))
    .flatMap(([caughtBy, mistakes]) =>
      Object.entries(mistakes).map(([does, mistake]) => ({
        mutant: `a ${kind} that ${does}`,
        caughtBy,
        create: () => placeWith(mistake),
      })),
    );
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
