import { InvalidLockConfigurationError, InvalidLockUseError } from '../../core';
import { processState } from '../../core/process-state';
import type { DeclaredSchedule, OncePerConfiguration } from '../../ledger';
import type { JobDeclaration } from '../jobs/job';
import type { LabelledConfiguration, MethodOptions } from '../jobs/job-guard-options';

type AnyFunction = (this: unknown, ...args: never[]) => unknown;

/** The options of one decorator. */
export interface Decoration {
  readonly lock?: LabelledConfiguration & MethodOptions;
  readonly oncePer?: OncePerConfiguration & MethodOptions;
  /** As the decorator got them: the same object for every instance of a class with a decorated field. */
  readonly origin: object;
}

/** The options of all decorators on one handler, in any order. Complete when its configuration is first read. */
export class JobDefinition {
  #lock: Decoration['lock'];
  #oncePer: Decoration['oncePer'];

  /** `undefined` until the configuration is first read. */
  complete: LabelledConfiguration | undefined;

  /** The object that has the method: a prototype, a class, or an instance with a decorated field. */
  place: readonly [holder: object, key: string | symbol] | undefined;

  constructor(readonly methodName: string) {}

  add({ lock, oncePer }: Decoration): void {
    if (lock && this.#lock)
      this.reject(`has @SchedulerLock twice: '${this.#lock.name}' and '${lock.name}'. Keep one.`);
    if (oncePer && this.#oncePer) this.reject('has @OncePer or @OncePerDay twice. Keep one.');
    if (this.complete !== undefined) this.reject('is already in use and can no longer be decorated.');
    this.#lock ??= lock;
    this.#oncePer ??= oncePer;
    // Both reject contradictions.
    this.#option('enabled');
    this.#option('onSkip');
  }

  /**
   * A once-per job without @SchedulerLock gets a kept-alive lock with its name. `timeZone` is that of its schedule.
   *
   * @throws InvalidLockConfigurationError for a once-per job that has neither a lock nor a name
   */
  configuration(timeZone?: string): LabelledConfiguration {
    // A standard decorator does not know its class, so the zone can be unknown until there is an instance.
    const isZoneNew = timeZone !== undefined && this.complete?.oncePer?.timeZone === undefined;
    if (this.complete !== undefined && !(isZoneNew && this.#oncePer !== undefined)) return this.complete;
    const oncePer = this.#oncePer && { ...this.#oncePer, timeZone: this.#oncePer.timeZone ?? timeZone };
    const enabled = this.#option('enabled');
    if (this.#lock !== undefined) return (this.complete = { ...this.#lock, enabled, oncePer });
    const name = oncePer?.name;
    if (name !== undefined) return (this.complete = { name, keepAlive: true, enabled, oncePer });
    throw new InvalidLockConfigurationError(
      `Method '${this.methodName}' runs once per period, but its job has no name. Pass one, as in { name: 'close-day' }, or add @SchedulerLock.`,
    );
  }

  get onSkip(): MethodOptions['onSkip'] {
    return this.#option('onSkip');
  }

  /** Each decorator takes these options, for methods that have only one of them. */
  #option<K extends keyof MethodOptions>(option: K): MethodOptions[K] {
    const first: MethodOptions[K] = this.#lock?.[option];
    const second: MethodOptions[K] = this.#oncePer?.[option];
    if (first !== undefined && second !== undefined && first !== second)
      this.reject(`sets ${option} twice, with different values. Keep one.`);
    return first ?? second;
  }

  reject(why: string): never {
    throw new InvalidLockUseError(`Method '${this.methodName}' ${why}`);
  }
}

/** The mark on a guarded function. */
export interface GuardedMethod {
  readonly definition: JobDefinition;
  readonly original: AnyFunction;
  /** The same with its guard. Decorators of other libraries can hide it. */
  readonly wrapper: AnyFunction;
}

const GUARDED = Symbol.for('cronlatch.v0.guarded-method');
const SCHEDULES = Symbol.for('cronlatch.v0.schedules');

/** By the origin of the first decorator. A decorated field has one handler per instance; only the latest is kept. */
const declared = processState('declared-methods', () => new Map<object, GuardedMethod>());

export function markGuarded(method: GuardedMethod, { origin }: Decoration): void {
  Object.defineProperty(method.wrapper, GUARDED, { value: method, enumerable: true });
  declared.set(origin, method);
}

/** @param layers of one method, of which any can have the mark */
export function guardedMethodOf(...layers: readonly unknown[]): GuardedMethod | undefined {
  const guarded = layers.find((layer) => typeof layer === 'function' && GUARDED in layer);
  return (guarded as { readonly [GUARDED]: GuardedMethod } | undefined)?.[GUARDED];
}

/** Looks the method up at each call, because a test may replace it with a spy. */
export function methodCall(instance: object, key: string | symbol): JobDeclaration['call'] {
  const methods = instance as Record<string | symbol, (...args: unknown[]) => Promise<unknown>>;
  return (args) => async () => await methods[key]?.apply(instance, [...args]);
}

/** For a scheduler's decorator. Instances can share the function of a field, which then already has the schedule. */
export function addSchedule(method: AnyFunction, schedule: DeclaredSchedule): void {
  const value = [...new Set([...schedulesOf(method), schedule])];
  Object.defineProperty(method, SCHEDULES, { value, enumerable: true, configurable: true });
}

export function schedulesOf(method: AnyFunction): readonly DeclaredSchedule[] {
  return SCHEDULES in method ? (method[SCHEDULES] as readonly DeclaredSchedule[]) : [];
}

const decorated = processState('decorated-methods', () => new WeakMap<object, Map<unknown, AnyFunction>>());

/** Records what a decorator of cronlatch gets or returns, with the marks of what another decorator hides. */
export function recordDecorated(holder: object, key: string | symbol, method: AnyFunction): void {
  const methods = decorated.get(holder) ?? new Map<unknown, AnyFunction>();
  const below = methods.get(key) ?? method;
  decorated.set(holder, methods.set(key, method));
  for (const schedule of schedulesOf(below)) addSchedule(method, schedule);
  const guarded = guardedMethodOf(method, below);
  if (guarded === undefined) return;
  guarded.definition.place ??= [holder, key];
  Object.defineProperty(method, GUARDED, { value: guarded, enumerable: true });
  if (guarded.definition !== (guardedMethodOf(below) ?? guarded).definition)
    guarded.definition.reject('needs @SchedulerLock next to @OncePer…: a decorator between them hides one.');
}

/** A method as its callers find it, as cronlatch's decorators left it, and guarded. An override has only its own decorators. */
export function layersOf(instance: object, key: string | symbol): readonly AnyFunction[] {
  const holder = chainOf(instance).find((each) => Object.hasOwn(each, key)) ?? instance;
  const outermost = Object.getOwnPropertyDescriptor(holder, key)?.value as AnyFunction | undefined;
  const layers = [outermost, decorated.get(holder)?.get(key)];
  layers.push(guardedMethodOf(...layers)?.wrapper);
  return layers.filter((each) => typeof each === 'function');
}

/** An object and its prototypes, without those of the language. */
export function chainOf(object: object | null): object[] {
  if (object === null || object === Object.prototype || object === Function.prototype) return [];
  return [object, ...chainOf(Object.getPrototypeOf(object) as object | null)];
}

/** For third-party schedulers, whose decorators leave their own marks on a method. `undefined`: without a time zone. */
export const timeZoneReaders = processState(
  'time-zone-readers',
  () => new Set<(method: AnyFunction) => readonly (string | undefined)[]>(),
);

/** The configuration of a guarded method. Uses the time zone of its schedules if they all have the same. */
export function configurationOf({ definition, wrapper }: GuardedMethod): LabelledConfiguration {
  const layers = definition.place === undefined ? [wrapper] : layersOf(...definition.place);
  // The decorators of third-party schedulers replace each other, so only the outermost one counts.
  const read = [...timeZoneReaders].map((zonesOf) => layers.map(zonesOf).find(({ length }) => length > 0));
  const own = layers.flatMap(schedulesOf).map((each) => ('timeZone' in each ? each.timeZone : undefined));
  const timeZones = [...new Set([...own, ...read.flatMap((zones) => zones ?? [])])];
  // A schedule without a time zone uses the host's, which counts as different.
  return definition.configuration(timeZones.length === 1 ? timeZones[0] : undefined);
}

export function* declaredConfigurations(): Generator<LabelledConfiguration> {
  for (const method of declared.values()) yield configurationOf(method);
}
