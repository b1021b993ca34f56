import type { LockConfiguration } from '../core';
import { processState } from '../core/process-state';

type AnyFunction = (this: unknown, ...args: never[]) => unknown;

/** What a guarded function knows about itself. */
export interface GuardedMethod {
  readonly configuration: LockConfiguration;
  /** The handler as it was written. */
  readonly original: AnyFunction;
  /** The method's name, for messages. */
  readonly methodName: string;
}

const GUARDED = Symbol.for('cronlatch.v0.guarded-method');
/** One for each decorator, however many instances its class has. */
const declared = processState('declared-configurations', () => new Set<LockConfiguration>());

export function markGuarded(wrapper: AnyFunction, method: GuardedMethod): void {
  Object.defineProperty(wrapper, GUARDED, { value: method, enumerable: true });
  declared.add(method.configuration);
}

export function guardedMethodOf(value: unknown): GuardedMethod | undefined {
  return typeof value === 'function' && GUARDED in value ? (value[GUARDED] as GuardedMethod) : undefined;
}

/** The configurations of every method decorated so far in this process. */
export function declaredConfigurations(): Iterable<LockConfiguration> {
  return declared;
}
