import { guardOf } from '../guard/configured-guard';
import {
  configurationOf,
  guardedMethodOf,
  JobDefinition,
  markGuarded,
  type Decoration,
} from '../guard/calls/guarded-method';
import { callsOf, jobSkippedError } from '../guard/calls/calls';
import { takeInvocation } from '../guard/calls/invocation';
import type { AnyMethod } from './skippable';

/** Returns the method with its guard. Other decorators see the same name and metadata as on the method itself. */
export function guardMethod(method: AnyMethod, methodName: string, decoration: Decoration): AnyMethod {
  const earlier = guardedMethodOf(method);
  if (earlier !== undefined) {
    earlier.definition.add(decoration);
    return method;
  }
  const definition = new JobDefinition(methodName);
  definition.add(decoration);
  const guarded = function (this: unknown, ...args: unknown[]): Promise<unknown> {
    return takeInvocation(async (invocation) => {
      const configuration = definition.complete ?? configurationOf(marked);
      const guard = guardOf(this, definition, configuration.name);
      const call = (given: readonly unknown[]) => (): unknown => method.apply(this, [...given]) as unknown;
      const scheduledAt = invocation?.scheduledAt;
      try {
        const calls = callsOf(guard);
        const tick = { task: call(args), args, call, scheduledAt, invocation };
        const result = await calls.execute(calls.parts.registry.jobOf(configuration, this), tick);
        if (result.executed) return result.value;
        if (definition.onSkip !== 'throw' || invocation?.isTickOf?.({ instance: this, method: guarded }))
          return undefined;
        throw jobSkippedError(configuration.name, result.reason);
      } catch (error) {
        if (invocation?.onReportedError?.(error, { instance: this, method: guarded })) return undefined;
        throw error;
      }
    });
  };
  const marked = { definition, original: method, wrapper: guarded };
  copyAppearance(method, guarded);
  markGuarded(marked, decoration);
  return guarded;
}

/** The functions that reflect-metadata adds to `Reflect` if the application loads it. */
interface ReflectMetadata {
  getOwnMetadataKeys?(target: object): unknown[];
  getOwnMetadata?(key: unknown, target: object): unknown;
  defineMetadata?(key: unknown, value: unknown, target: object): void;
}

/** Copies the name, length, own properties and Reflect metadata, because schedulers look for their marks there. */
function copyAppearance(from: AnyMethod, to: AnyMethod): void {
  for (const key of Reflect.ownKeys(from)) {
    const descriptor = Object.getOwnPropertyDescriptor(from, key);
    if (key !== 'prototype' && descriptor !== undefined) Object.defineProperty(to, key, descriptor);
  }
  const reflect = Reflect as ReflectMetadata;
  for (const key of reflect.getOwnMetadataKeys?.(from) ?? [])
    reflect.defineMetadata?.(key, reflect.getOwnMetadata?.(key, from), to);
}
