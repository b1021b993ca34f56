type Method = (this: unknown, ...args: never[]) => unknown;

/** A decorator that works on a method in legacy and in standard mode. */
export interface MethodDecoratorOfBothModes {
  <F extends (...args: never[]) => unknown>(value: F, context: ClassMethodDecoratorContext): F;
  <F>(target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<F>): void;
}

/** A decorator of another library: `change` marks the method, or returns another one in its place. */
export function foreignDecorator(change: (method: Method) => Method | void): MethodDecoratorOfBothModes {
  return ((value: Method, _context: unknown, descriptor?: PropertyDescriptor) => {
    const method = descriptor === undefined ? value : (descriptor.value as Method);
    const changed = change(method) ?? method;
    if (descriptor === undefined) return changed;
    descriptor.value = changed;
    return undefined;
  }) as MethodDecoratorOfBothModes;
}

/** A decorator that calls the method from another function, which has nothing of the method. */
export const calling = foreignDecorator(
  (method) =>
    async function (this: unknown, ...args) {
      return await method.apply(this, args);
    },
);
