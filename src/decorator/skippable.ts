/* eslint-disable @typescript-eslint/no-explicit-any -- inferring a function type as a whole needs `any` in its constraint */

export type AnyMethod = (this: any, ...args: any[]) => any;

/**
 * A guarded method resolves to `undefined` if it is skipped, and its return type must allow that. `unknown` for a type
 * that does; otherwise a type that nothing satisfies and whose property names the remedy.
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

/** The same for a method with `onSkip: 'throw'`, which never resolves to `undefined` because it is skipped. */
export type Asynchronous<F> = F extends (...args: any[]) => infer R
  ? [R] extends [void | undefined | PromiseLike<unknown>]
    ? unknown
    : { 'a guarded method is asynchronous: declare Promise<T>': never }
  : never;

/** A decorator for legacy and standard mode, for a method with `onSkip: 'throw'`. */
export interface ThrowingLockDecorator {
  <This, F extends AnyMethod>(value: F & Asynchronous<F>, context: ClassMethodDecoratorContext<This, F>): F;
  <This, F extends AnyMethod>(
    value: unknown extends Asynchronous<F> ? undefined : Asynchronous<F>,
    context: ClassFieldDecoratorContext<This, F>,
  ): (this: This, initial: F) => F;
  <F extends AnyMethod>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<F> & (unknown extends Asynchronous<F> ? unknown : Asynchronous<F>),
  ): void;
}

/** A decorator for legacy and standard mode. It infers the whole function type, so that generic methods stay generic. */
export interface SchedulerLockDecorator {
  /** Standard: a method. */
  <This, F extends AnyMethod>(value: F & Skippable<F>, context: ClassMethodDecoratorContext<This, F>): F;
  /**
   * Standard: a field that holds a function; the `value` is then `undefined`. For a method that no overload accepts,
   * TypeScript 7 reports only this overload, so it must contain the remedy too.
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
