import { InvalidLockConfigurationError, InvalidLockUseError, type LockConfiguration } from '../core';
import { processState } from '../core/process-state';
import type { OncePerConfiguration } from '../ledger';
import type { JobDeclaration } from './job';
import type { GuardConfiguration } from './job-guard-options';

type AnyFunction = (this: unknown, ...args: never[]) => unknown;

/** What the decorators of one handler say, in whichever order they stand. Complete when it is first asked for. */
export class JobDefinition {
  #lock: LockConfiguration | undefined;
  #oncePer: OncePerConfiguration | undefined;
  #complete: GuardConfiguration | undefined;

  /** What the first decorator says: the same for every instance whose field it stands on. */
  #origin: LockConfiguration | OncePerConfiguration | undefined;

  /** @param methodName for messages */
  constructor(readonly methodName: string) {}

  get origin(): object {
    return this.#origin ?? this;
  }

  addLock(lock: LockConfiguration): void {
    if (this.#lock !== undefined)
      this.#refuse(`has @SchedulerLock twice: '${this.#lock.name}' and '${lock.name}'`);
    this.#refuseLate();
    this.#origin ??= lock;
    this.#lock = lock;
  }

  addOncePer(oncePer: OncePerConfiguration): void {
    if (this.#oncePer !== undefined) this.#refuse('is once per period twice');
    this.#refuseLate();
    this.#origin ??= oncePer;
    this.#oncePer = oncePer;
  }

  /**
   * Without a lock of its own, a once-per job has one of its name, which is kept alive.
   *
   * @param timeZone of the schedule beside it, where the job does not say it
   * @throws InvalidLockConfigurationError for a once-per job that has neither a lock nor a name
   */
  configuration(timeZone?: string): GuardConfiguration {
    return (this.#complete ??= this.#completed(timeZone));
  }

  /** Once it was asked for. */
  get complete(): GuardConfiguration | undefined {
    return this.#complete;
  }

  #completed(timeZone: string | undefined): GuardConfiguration {
    const oncePer = this.#oncePer && { ...this.#oncePer, timeZone: this.#oncePer.timeZone ?? timeZone };
    if (this.#lock !== undefined) return { ...this.#lock, oncePer };
    const name = oncePer?.name;
    if (name !== undefined) return { name, keepAlive: true, oncePer };
    throw new InvalidLockConfigurationError(
      `Method '${this.methodName}' is once per period, but has no name: give it one, as in { name: 'close-day' }, or a @SchedulerLock beside it.`,
    );
  }

  #refuseLate(): void {
    if (this.#complete !== undefined) this.#refuse('is in use already, and cannot be decorated any more');
  }

  #refuse(why: string): never {
    throw new InvalidLockUseError(`Method '${this.methodName}' ${why}. Keep one.`);
  }
}

/** What a guarded function knows about itself. */
export interface GuardedMethod {
  readonly definition: JobDefinition;
  /** The handler as it was written. */
  readonly original: AnyFunction;
}

const GUARDED = Symbol.for('cronlatch.v0.guarded-method');
const TIME_ZONES = Symbol.for('cronlatch.v0.time-zones');

/** By what was decorated first on it: a field has a handler for each instance of its class, of which the last one is here. */
const declared = processState('declared-methods', () => new Map<object, AnyFunction>());

export function markGuarded(wrapper: AnyFunction, method: GuardedMethod): void {
  Object.defineProperty(wrapper, GUARDED, { value: method, enumerable: true });
  declared.set(method.definition.origin, wrapper);
}

export function guardedMethodOf(value: unknown): GuardedMethod | undefined {
  return typeof value === 'function' && GUARDED in value ? (value[GUARDED] as GuardedMethod) : undefined;
}

/** How a job calls a method: as it is by then, for a test may have put a spy in its place. */
export function methodCall(instance: object, key: string | symbol): JobDeclaration['call'] {
  const methods = instance as Record<string | symbol, (...args: unknown[]) => Promise<unknown>>;
  return (args) => async () => await methods[key]?.apply(instance, [...args]);
}

/** A scheduler's decorator tells the zone of its schedule; `undefined` where it has none. */
export function noteTimeZone(method: AnyFunction, timeZone: string | undefined): void {
  const value = new Set([...timeZonesOf(method), timeZone]);
  Object.defineProperty(method, TIME_ZONES, { value, enumerable: true, configurable: true });
}

/** Tells the zones of the schedules that stand on a method; `undefined` for one that has none. */
export type TimeZoneReader = (method: AnyFunction) => readonly (string | undefined)[];

const readers = processState('time-zone-readers', () => new Set<TimeZoneReader>());

/** For a scheduler of somebody else, whose decorators leave marks of their own. */
export function readTimeZonesWith(reader: TimeZoneReader): void {
  readers.add(reader);
}

/** The configuration of a guarded function, with the zone of its schedule where there is one, and only one. */
export function configurationOf(wrapper: AnyFunction, { definition }: GuardedMethod): GuardConfiguration {
  if (definition.complete !== undefined) return definition.complete;
  const timeZones = [...timeZonesOf(wrapper)];
  // A schedule without a zone is in the host's, which is another one.
  return definition.configuration(timeZones.length === 1 ? timeZones[0] : undefined);
}

/** The configurations of every method decorated so far in this process. */
export function* declaredConfigurations(): Generator<GuardConfiguration> {
  for (const wrapper of declared.values()) {
    const method = guardedMethodOf(wrapper);
    if (method !== undefined) yield configurationOf(wrapper, method);
  }
}

function timeZonesOf(method: AnyFunction): ReadonlySet<string | undefined> {
  const noted = TIME_ZONES in method ? (method[TIME_ZONES] as ReadonlySet<string | undefined>) : [];
  return new Set([...noted, ...[...readers].flatMap((read) => read(method))]);
}
