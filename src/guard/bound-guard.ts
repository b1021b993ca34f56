import { types } from 'node:util';
import { processState } from '../core/process-state';
import { guardedMethodOf, type JobDefinition } from './guarded-method';
import type { JobGuard } from './job-guard';

interface Bindings {
  /** By instance, and for decorated fields by their definition, which each instance has its own of. */
  readonly guards: WeakMap<object, JobGuard>;
  readonly inUse: Set<JobGuard>;
}

const bindings = processState<Bindings>('bindings', () => ({ guards: new WeakMap(), inUse: new Set() }));

/** Holds the instance itself. It is readable through a Proxy of the instance, which has another identity. */
const SELF = Symbol.for('cronlatch.v0.bound-instance');

/** The guarded methods of an instance use the guard that scheduled it, also if you call them yourself. */
export function bindGuard(instance: object, guard: JobGuard): void {
  bindings.guards.set(instance, guard);
  for (const other of bindings.inUse) if (other.isClosing) bindings.inUse.delete(other);
  bindings.inUse.add(guard);
  try {
    for (const { value } of Object.values(Object.getOwnPropertyDescriptors(instance))) {
      const field = guardedMethodOf(value);
      if (field !== undefined) bindings.guards.set(field.definition, guard);
    }
    Reflect.defineProperty(instance, SELF, { value: instance, configurable: true });
  } catch {
    // A provider of Nest can be a Proxy that rejects this. Such an instance is found by its identity.
  }
}

/** The guard that scheduled the instance on which a guarded function is called, or `undefined`. */
export function boundGuard(instance: unknown, definition: JobDefinition): JobGuard | undefined {
  const { guards } = bindings;
  // A value that is not an object has no binding.
  return (
    guards.get(instance as object) ??
    guards.get(boundInstanceOf(instance) as object) ??
    guards.get(definition)
  );
}

/** Whether a guard other than this one has scheduled instances and is not closed. */
export function isAnotherInUse(guard: JobGuard): boolean {
  return [...bindings.inUse].some((other) => other !== guard && !other.isClosing);
}

/** Whether a function is called on an instance of its own class, neither detached nor through a Proxy. */
export function isOnOwnInstance(instance: unknown, definition: JobDefinition): boolean {
  if (types.isProxy(instance)) return false;
  let holder: unknown =
    typeof instance === 'object' && instance !== null ? Object.getPrototypeOf(instance) : instance;
  for (; holder !== null && holder !== undefined; holder = Object.getPrototypeOf(holder)) {
    const properties = Object.values(Object.getOwnPropertyDescriptors(holder));
    if (properties.some(({ value }) => guardedMethodOf(value)?.definition === definition)) return true;
  }
  return false;
}

/** For a class, reads only its own property: a subclass inherits the property, but is not the scheduled instance. */
function boundInstanceOf(instance: unknown): unknown {
  if (typeof instance === 'function') return Object.getOwnPropertyDescriptor(instance, SELF)?.value;
  if (typeof instance !== 'object' || instance === null) return undefined;
  return (instance as { [SELF]?: unknown })[SELF];
}
