import { InvalidLockConfigurationError, InvalidLockUseError } from '../core';
import { processState } from '../core/process-state';
import type { OncePerConfiguration } from '../ledger';
import type { JobDeclaration } from './jobs/job';
import type { LabelledConfiguration, MethodOptions } from './job-guard-options';

type AnyFunction = (this: unknown, ...args: never[]) => unknown;

/** The options of all decorators on one handler, in any order. Complete when its configuration is first read. */
export class JobDefinition {
  #lock: (LabelledConfiguration & MethodOptions) | undefined;
  #oncePer: (OncePerConfiguration & MethodOptions) | undefined;
  #complete: LabelledConfiguration | undefined;

  /** The options of the first decorator: the same object for every instance of a class with a decorated field. */
  #origin: object | undefined;

  /** @param methodName for messages */
  constructor(readonly methodName: string) {}

  get origin(): object {
    return this.#origin ?? this;
  }

  /** @param origin the options as the decorator got them */
  addLock(lock: LabelledConfiguration & MethodOptions, origin: object): void {
    if (this.#lock !== undefined)
      this.#reject(`has @SchedulerLock twice: '${this.#lock.name}' and '${lock.name}'. Keep one.`);
    this.#rejectLate();
    this.#origin ??= origin;
    this.#lock = lock;
    this.#checkOptions();
  }

  addOncePer(oncePer: OncePerConfiguration & MethodOptions): void {
    if (this.#oncePer !== undefined) this.#reject('has @OncePer or @OncePerDay twice. Keep one.');
    this.#rejectLate();
    this.#origin ??= oncePer;
    this.#oncePer = oncePer;
    this.#checkOptions();
  }

  /**
   * A once-per job without @SchedulerLock gets a lock with the name of the job, which cronlatch keeps alive.
   *
   * @param timeZone of the job's schedule, used if the job does not set its own
   * @throws InvalidLockConfigurationError for a once-per job that has neither a lock nor a name
   */
  configuration(timeZone?: string): LabelledConfiguration {
    return (this.#complete ??= this.#completed(timeZone));
  }

  get onSkip(): MethodOptions['onSkip'] {
    return this.#option('onSkip');
  }

  /** `undefined` until the configuration is first read. */
  get complete(): LabelledConfiguration | undefined {
    return this.#complete;
  }

  #completed(timeZone: string | undefined): LabelledConfiguration {
    const oncePer = this.#oncePer && { ...this.#oncePer, timeZone: this.#oncePer.timeZone ?? timeZone };
    const enabled = this.#option('enabled');
    if (this.#lock !== undefined) return { ...this.#lock, enabled, oncePer };
    const name = oncePer?.name;
    if (name !== undefined) return { name, keepAlive: true, enabled, oncePer };
    throw new InvalidLockConfigurationError(
      `Method '${this.methodName}' runs once per period, but its job has no name. Pass one, as in { name: 'close-day' }, or add @SchedulerLock.`,
    );
  }

  /** Each decorator takes these options, for methods that have only one of them. */
  #option<K extends keyof MethodOptions>(option: K): MethodOptions[K] {
    const first: MethodOptions[K] = this.#lock?.[option];
    const second: MethodOptions[K] = this.#oncePer?.[option];
    if (first !== undefined && second !== undefined && first !== second)
      this.#reject(`sets ${option} twice, with different values. Keep one.`);
    return first ?? second;
  }

  #checkOptions(): void {
    this.#option('enabled');
    this.#option('onSkip');
  }

  #rejectLate(): void {
    if (this.#complete !== undefined) this.#reject('is already in use and can no longer be decorated.');
  }

  #reject(why: string): never {
    throw new InvalidLockUseError(`Method '${this.methodName}' ${why}`);
  }
}

/** The mark on a guarded function. */
export interface GuardedMethod {
  readonly definition: JobDefinition;
  /** The handler without its guard. */
  readonly original: AnyFunction;
}

const GUARDED = Symbol.for('cronlatch.v0.guarded-method');
const TIME_ZONES = Symbol.for('cronlatch.v0.time-zones');

/** By origin. A decorated field has one handler per instance; only the latest is kept. */
const declared = processState('declared-methods', () => new Map<object, AnyFunction>());

export function markGuarded(wrapper: AnyFunction, method: GuardedMethod): void {
  Object.defineProperty(wrapper, GUARDED, { value: method, enumerable: true });
  declared.set(method.definition.origin, wrapper);
}

export function guardedMethodOf(value: unknown): GuardedMethod | undefined {
  return typeof value === 'function' && GUARDED in value ? (value[GUARDED] as GuardedMethod) : undefined;
}

/** Looks the method up at each call, because a test may replace it with a spy. */
export function methodCall(instance: object, key: string | symbol): JobDeclaration['call'] {
  const methods = instance as Record<string | symbol, (...args: unknown[]) => Promise<unknown>>;
  return (args) => async () => await methods[key]?.apply(instance, [...args]);
}

/** For a scheduler's decorator: records the time zone of its schedule, `undefined` if it has none. */
export function recordTimeZone(method: AnyFunction, timeZone: string | undefined): void {
  const value = new Set([...timeZonesOf(method), timeZone]);
  Object.defineProperty(method, TIME_ZONES, { value, enumerable: true, configurable: true });
}

/** Returns the time zones of the schedules on a method, `undefined` for a schedule without one. */
export type TimeZoneReader = (method: AnyFunction) => readonly (string | undefined)[];

const readers = processState('time-zone-readers', () => new Set<TimeZoneReader>());

/** For third-party schedulers, whose decorators leave their own marks on a method. */
export function addTimeZoneReader(reader: TimeZoneReader): void {
  readers.add(reader);
}

/** The configuration of a guarded function. Uses the time zone of its schedules if they all have the same. */
export function configurationOf(wrapper: AnyFunction, { definition }: GuardedMethod): LabelledConfiguration {
  if (definition.complete !== undefined) return definition.complete;
  const timeZones = [...timeZonesOf(wrapper)];
  // A schedule without a time zone uses the host's, which counts as different.
  return definition.configuration(timeZones.length === 1 ? timeZones[0] : undefined);
}

/** The configurations of every method decorated so far in this process. */
export function* declaredConfigurations(): Generator<LabelledConfiguration> {
  for (const wrapper of declared.values()) {
    const method = guardedMethodOf(wrapper);
    if (method !== undefined) yield configurationOf(wrapper, method);
  }
}

function timeZonesOf(method: AnyFunction): ReadonlySet<string | undefined> {
  const recorded = TIME_ZONES in method ? (method[TIME_ZONES] as ReadonlySet<string | undefined>) : [];
  return new Set([...recorded, ...[...readers].flatMap((read) => read(method))]);
}
