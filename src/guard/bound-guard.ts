import { types } from 'node:util';
import { processState } from '../core/process-state';
import { guardedMethodOf, type JobDefinition } from './guarded-method';
import type { JobGuard } from './job-guard';

interface Bindings {
  /** By instance, and by the definition of a field: each instance has definitions of its own for those. */
  readonly guards: WeakMap<object, JobGuard>;
  readonly inUse: Set<JobGuard>;
}

const bindings = processState<Bindings>('bindings', () => ({ guards: new WeakMap(), inUse: new Set() }));

/** Leads from a Proxy of an instance to the instance: the proxy has another identity, but the same properties. */
const SELF = Symbol.for('cronlatch.v0.bound-instance');

/** The methods of an instance go through the guard that scheduled it, also if they are called by hand. */
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
    // Nest's providers are any objects, also a Proxy that refuses this. Such an instance is known by its identity.
  }
}

/** The guard that scheduled the instance on which a guarded function is called; `undefined` if none has. */
export function boundGuard(instance: unknown, definition: JobDefinition): JobGuard | undefined {
  const { guards } = bindings;
  // A value that is not an object has no binding.
  return guards.get(instance as object) ?? guards.get(selfOf(instance) as object) ?? guards.get(definition);
}

/** Whether a guard other than this one has scheduled instances and is not closed. */
export function isAnotherInUse(guard: JobGuard): boolean {
  return [...bindings.inUse].some((other) => other !== guard && !other.isClosing);
}

/** Whether a function is called on an instance of its own class: neither detached, nor through a Proxy. */
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

/** A subclass inherits the property of a class whose static methods are scheduled, and is another instance. */
function selfOf(instance: unknown): unknown {
  if (typeof instance === 'function') return Object.getOwnPropertyDescriptor(instance, SELF)?.value;
  if (typeof instance !== 'object' || instance === null) return undefined;
  return (instance as { [SELF]?: unknown })[SELF];
}
