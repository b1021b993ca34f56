/** State of the process, not of one loaded copy of the library. Two copies of the same major version share it. */
export function processState<T>(name: string, create: () => T): T {
  const key = Symbol.for(`cronlatch.v0.${name}`);
  const globals = globalThis as unknown as Record<symbol, T | undefined>;
  return (globals[key] ??= create());
}
