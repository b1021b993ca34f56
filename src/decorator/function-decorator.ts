import { InvalidLockUseError } from '../core';
import { describeValue } from '../core/options';
import { chainOf, recordDecorated } from '../guard/calls/guarded-method';
import type { AnyMethod } from './skippable';

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
  const replace = (value: unknown, key: string | symbol, isPrivate: boolean, holder?: object): AnyMethod => {
    if (typeof value !== 'function') return refusePlace(label, describeValue(value));
    if (holder !== undefined) recordDecorated(holder, key, value as AnyMethod);
    const changed = change(value as AnyMethod, String(key), isPrivate);
    if (holder !== undefined) recordDecorated(holder, key, changed);
    return changed;
  };
  const standard = (value: unknown, context: DecoratorContext): unknown => {
    const { kind } = context;
    if (kind === 'field')
      return function (this: object, initial: unknown) {
        return replace(initial, context.name, context.private, this);
      };
    if (kind !== 'method') return refusePlace(label, kind === 'class' ? 'a class' : 'an accessor');
    const { name } = context;
    const method = replace(value, name, context.private);
    context.addInitializer(function () {
      // If a subclass overrides the method, it is unknown which of the two this decorator is on.
      const [holder, ...more] = chainOf(this as object).filter((each) => Object.hasOwn(each, name));
      if (holder !== undefined && more.length === 0) recordDecorated(holder, name, method);
    });
    return method;
  };
  const legacy = (holder: object, name: string | symbol, descriptor?: PropertyDescriptor): void => {
    if (descriptor === undefined)
      refusePlace(
        label,
        'a field or a class',
        'Legacy decorators (experimentalDecorators) support only methods. Make it a method, or compile with standard decorators.',
      );
    if (descriptor.get !== undefined || descriptor.set !== undefined) refusePlace(label, 'an accessor');
    descriptor.value = replace(descriptor.value, name, false, holder);
  };
  return (value, second, third) =>
    isStandardContext(second)
      ? standard(value, second)
      : legacy(value as object, second as string | symbol, third as PropertyDescriptor | undefined);
}

export function refusePlace(
  label: string,
  what: string,
  remedy = 'Apply it to a method, or to a field that holds a function.',
): never {
  throw new InvalidLockUseError(`${label} was applied to ${what}. ${remedy}`);
}

function isStandardContext(value: unknown): value is DecoratorContext {
  return typeof value === 'object' && value !== null && 'kind' in value;
}
