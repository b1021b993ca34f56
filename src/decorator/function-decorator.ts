import { InvalidLockUseError } from '../core';
import { describeValue } from '../core/options';
import type { AnyMethod } from './skippable';

interface StandardContext {
  readonly kind: string;
  readonly name: string | symbol;
  readonly private?: boolean;
}

/**
 * Creates a decorator for legacy and standard mode.
 *
 * @param label the decorator as the user writes it, for messages
 * @param change returns the function that replaces the decorated one. `isPrivate`: the name is a `#name`, which only its
 * class can access.
 */
export function functionDecorator(
  label: string,
  change: (method: AnyMethod, name: string, isPrivate: boolean) => AnyMethod,
): (...args: unknown[]) => unknown {
  const replace = (value: unknown, name: string | symbol, isPrivate: boolean): AnyMethod => {
    if (typeof value !== 'function') return refusePlace(label, describeValue(value));
    return change(value as AnyMethod, String(name), isPrivate);
  };
  const standard = (value: unknown, context: StandardContext): unknown => {
    const { kind, name, private: isPrivate = false } = context;
    switch (kind) {
      case 'method':
        return replace(value, name, isPrivate);
      case 'field':
        return (initial: unknown) => replace(initial, name, isPrivate);
      default:
        return refusePlace(label, kind === 'class' ? 'a class' : 'an accessor');
    }
  };
  const legacy = (name: string | symbol, descriptor: PropertyDescriptor | undefined): void => {
    if (descriptor === undefined) {
      refusePlace(
        label,
        'a field or a class',
        'Legacy decorators (experimentalDecorators) support only methods. Make it a method, or compile with standard decorators.',
      );
    }
    if (descriptor.get !== undefined || descriptor.set !== undefined) refusePlace(label, 'an accessor');
    descriptor.value = replace(descriptor.value, name, false);
  };
  return (value, second, third) =>
    isStandardContext(second)
      ? standard(value, second)
      : legacy(second as string | symbol, third as PropertyDescriptor | undefined);
}

/** @param what the thing that the decorator must not be applied to */
export function refusePlace(
  label: string,
  what: string,
  remedy = 'Apply it to a method, or to a field that holds a function.',
): never {
  throw new InvalidLockUseError(`${label} was applied to ${what}. ${remedy}`);
}

function isStandardContext(value: unknown): value is StandardContext {
  return typeof value === 'object' && value !== null && 'kind' in value;
}
