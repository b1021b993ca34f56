/* eslint-disable @typescript-eslint/no-explicit-any -- inferring a function type as a whole needs `any` in its constraint */

export type AnyMethod = (this: any, ...args: any[]) => any;

/**
 * A guarded method may be skipped, and then resolves to `undefined`: its type must say so. `unknown` where it does, an
 * impossible demand that names the remedy where it does not.
 */
export type Skippable<F> = F extends (...args: any[]) => infer R
  ? [R] extends [void | undefined | PromiseLike<unknown>]
    ? void extends Awaited<R>
      ? unknown
      : undefined extends Awaited<R>
        ? unknown
        : { 'a skipped run resolves to undefined: declare Promise<T | undefined>': never }
    : { 'a guarded method is asynchronous: declare Promise<T | undefined>': never }
  : never;

/** One function for both kinds of decorators. The whole function type is inferred, so that generic methods stay generic. */
export interface SchedulerLockDecorator {
  /** Standard: a method. */
  <This, F extends AnyMethod>(value: F & Skippable<F>, context: ClassMethodDecoratorContext<This, F>): F;
  /**
   * Standard: a field that holds a function. What it is given is `undefined`; of a refused method TypeScript 7 tells only
   * what this overload has against it, so that the remedy must be found here.
   */
  <This, F extends AnyMethod>(
    value: unknown extends Skippable<F> ? undefined : Skippable<F>,
    context: ClassFieldDecoratorContext<This, F>,
  ): (this: This, initial: F) => F;
  /** Legacy (`experimentalDecorators`): a method. */
  <F extends AnyMethod>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<F> & (unknown extends Skippable<F> ? unknown : Skippable<F>),
  ): void;
}
