import { InvalidLockUseError } from '../core';
import { describeValue } from '../core/describe-value';
import type { AnyMethod } from './skippable';

/** Where a decorated function stands. */
export interface FunctionPlace {
  readonly name: string;
  /** A `#name`, which only its class can reach. */
  readonly isPrivate: boolean;
}

interface StandardContext {
  readonly kind: string;
  readonly name: string | symbol;
  readonly private?: boolean;
}

/**
 * Makes a decorator for legacy and for standard mode out of what becomes of the function that it stands on.
 *
 * @param label how the decorator is written, for messages
 */
export function functionDecorator(
  label: string,
  change: (method: AnyMethod, place: FunctionPlace) => AnyMethod,
): (...args: unknown[]) => unknown {
  const changed = (value: unknown, name: string | symbol, isPrivate: boolean): AnyMethod => {
    if (typeof value !== 'function') return refusePlace(label, describeValue(value));
    return change(value as AnyMethod, { name: String(name), isPrivate });
  };
  const standard = (value: unknown, context: StandardContext): unknown => {
    const { kind, name, private: isPrivate = false } = context;
    switch (kind) {
      case 'method':
        return changed(value, name, isPrivate);
      case 'field':
        return (initial: unknown) => changed(initial, name, isPrivate);
      default:
        return refusePlace(label, kind === 'class' ? 'a class' : 'an accessor');
    }
  };
  const legacy = (name: string | symbol, descriptor: PropertyDescriptor | undefined): void => {
    if (descriptor === undefined) {
      refusePlace(
        label,
        'a field or a class, which legacy decorators (experimentalDecorators) do not hand over: make it a method, or compile with standard decorators',
      );
    }
    if ((descriptor.get ?? descriptor.set) !== undefined) refusePlace(label, 'an accessor');
    descriptor.value = changed(descriptor.value, name, false);
  };
  return (value, second, third) =>
    isStandardContext(second)
      ? standard(value, second)
      : legacy(second as string | symbol, third as PropertyDescriptor | undefined);
}

/** @param what what the decorator stands on, and should not */
export function refusePlace(label: string, what: string): never {
  throw new InvalidLockUseError(
    `${label} stands on ${what}; it belongs on a method, or on a field that holds a function.`,
  );
}

function isStandardContext(value: unknown): value is StandardContext {
  return typeof value === 'object' && value !== null && 'kind' in value;
}
