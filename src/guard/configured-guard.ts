import { types } from 'node:util';
import { InvalidLockUseError, NotConfiguredError } from '../core';
import { processState } from '../core/process-state';
import {
  chainOf,
  declaredConfigurations,
  guardedMethodOf,
  layersOf,
  type JobDefinition,
} from './calls/guarded-method';
import { callsOf } from './calls/calls';
import type { JobGuard } from './job-guard';
import { hasTimeFunctions } from './jobs/lock-functions';

const state = processState<{ configured: JobGuard | undefined }>('guards', () => ({ configured: undefined }));

/**
 * Sets the default guard: every guarded method uses it unless its instance was scheduled with another guard. Pass
 * `undefined` to clear it.
 *
 * @throws InvalidLockUseError if another guard is configured and not closed, and `replace` is not set
 * @throws InvalidLockConfigurationError if a method decorated so far has a configuration that is invalid for this guard
 */
export function configureJobGuard(
  guard: JobGuard | undefined,
  { replace = false }: { replace?: boolean } = {},
): void {
  const calls = guard === undefined ? undefined : callsOf(guard, 'configureJobGuard');
  const before = state.configured;
  if (guard !== undefined && before !== undefined && before !== guard && !before.isClosing && !replace) {
    throw new InvalidLockUseError(
      'A job guard is already configured. To replace it, pass { replace: true } to configureJobGuard.',
    );
  }
  if (calls !== undefined)
    for (const configuration of declaredConfigurations())
      // The functions of its times get an instance, so it is checked when an instance is scheduled or called.
      if (!hasTimeFunctions(configuration)) calls.parts.registry.jobOf(configuration);
  state.configured = guard;
}

export function configuredGuard(): JobGuard | undefined {
  return state.configured;
}

/**
 * @throws NotConfiguredError if no guard is given or configured
 * @throws InvalidLockUseError if the guard is closed
 */
export function requireGuard(given: JobGuard | undefined, caller: string): JobGuard {
  const guard = given ?? state.configured;
  if (guard === undefined)
    throw new NotConfiguredError(
      `${caller} needs a guard. Pass { guard }, or call configureJobGuard(await createJobGuard(dataSource)) first.`,
    );
  callsOf(guard, caller);
  if (!guard.isClosing) return guard;
  throw new InvalidLockUseError(`${caller} cannot use a closed guard, because its jobs would never run.`);
}

/**
 * Returns the guard that scheduled the instance, or else the configured one.
 *
 * @throws NotConfiguredError if there is no guard
 * @throws InvalidLockUseError for a call without its instance, if that instance may belong to another guard
 */
export function guardOf(instance: unknown, definition: JobDefinition, lockName: string): JobGuard {
  const { guards, inUse } = bindings;
  // A value that is not an object has no binding.
  const ofInstance = guards.get(instance as object) ?? guards.get(boundInstanceOf(instance) as object);
  const bound = ofInstance ?? guards.get(definition);
  if (bound !== undefined) return bound;
  const { configured } = state;
  if (configured === undefined)
    throw new NotConfiguredError(
      `The job with lock '${lockName}' did not run, because no guard is configured. ` +
        `Call configureJobGuard(await createJobGuard(dataSource)) at startup, or schedule the instance with scheduleJobs(instance, { guard }).`,
    );
  const isAnotherInUse = [...inUse].some((other) => other !== configured && !other.isClosing);
  if (!isAnotherInUse || isOnOwnInstance(instance, definition)) return configured;
  throw new InvalidLockUseError(
    `The job with lock '${lockName}' did not run: this process has more than one guard, and the method was called without its instance. Call it on the instance, as in () => jobs.method().`,
  );
}

const bindings = processState('bindings', () => ({
  /** By instance, and for decorated fields by their definition, which each instance has its own of. */
  guards: new WeakMap<object, JobGuard>(),
  /** Those that have scheduled instances, also closed ones. */
  inUse: new Set<JobGuard>(),
}));

/** Holds the instance itself. It is readable through a Proxy of the instance, which has another identity. */
const SELF = Symbol.for('cronlatch.v0.bound-instance');

/** The guarded methods of an instance use the guard that scheduled it, also if you call them yourself. */
export function bindGuard(instance: object, guard: JobGuard): void {
  bindings.guards.set(instance, guard);
  for (const other of bindings.inUse) if (other.isClosing) bindings.inUse.delete(other);
  bindings.inUse.add(guard);
  try {
    for (const key of Object.keys(Object.getOwnPropertyDescriptors(instance))) {
      const field = guardedMethodOf(...layersOf(instance, key));
      if (field !== undefined) bindings.guards.set(field.definition, guard);
    }
    Reflect.defineProperty(instance, SELF, { value: instance, configurable: true });
  } catch {
    // A provider of Nest can be a Proxy that rejects this. Such an instance is found by its identity.
  }
}

/** Whether a function is called on an instance of its own class, neither detached nor through a Proxy. */
function isOnOwnInstance(instance: unknown, definition: JobDefinition): boolean {
  if (types.isProxy(instance)) return false;
  const first: unknown = typeof instance === 'function' ? instance : Object.getPrototypeOf(Object(instance));
  return chainOf(first as object | null).some((holder) => {
    const properties = Object.values(Object.getOwnPropertyDescriptors(holder));
    const isDefined = properties.some(({ value }) => guardedMethodOf(value)?.definition === definition);
    return isDefined || holder === definition.place?.[0];
  });
}

/** For a class, reads only its own property: a subclass inherits the property, but is not the scheduled instance. */
function boundInstanceOf(instance: unknown): unknown {
  if (typeof instance === 'function') return Object.getOwnPropertyDescriptor(instance, SELF)?.value;
  if (typeof instance !== 'object' || instance === null) return undefined;
  return (instance as { [SELF]?: unknown })[SELF];
}
