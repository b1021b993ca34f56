/** The same store, whose methods of these names reject with the next of the failures, while there are any. */
export function failing<Store extends object>(
  store: Store,
  failures: Error[],
  names: readonly (keyof Store)[],
): Store {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const failure = names.includes(key as keyof Store) ? failures.shift() : undefined;
        return failure === undefined ? Reflect.apply(value, target, args) : Promise.reject(failure);
      };
    },
  });
}
