import { MetadataScanner, type DiscoveryService } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { InvalidLockUseError } from '../../core';
import { configurationOf, guardedMethodOf, layersOf, methodCall } from '../../guard/calls/guarded-method';
import type { JobDeclaration } from '../../guard/jobs/job';
import type { DeclaredSchedule } from '../../ledger';
import { cronOf, intervalOf, isScheduled, type CronMetadata } from './schedule-metadata';

export interface DiscoveredMethod extends JobDeclaration {
  readonly instance: object;
  readonly moduleName: string;
  /** Whether its instance has a second token. @nestjs/schedule mounts its jobs once for each token. */
  readonly isTwice: boolean;
  readonly isScheduled: boolean;
  /** Whether a decorator of another library hides the schedule from @nestjs/schedule. */
  readonly isHidden: boolean;
  readonly cron: CronMetadata | undefined;
}

type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** All instances of the application, each with its guarded methods, and one registry for each import of ScheduleModule. */
export function discover(discovery: DiscoveryService) {
  const wrappers = [...discovery.getControllers(), ...discovery.getProviders()];
  const all = wrappers.map(({ instance }) => instance as unknown);
  const found = new Map<object, readonly DiscoveredMethod[]>();
  for (const [index, instance] of all.entries()) {
    const wrapper = wrappers[index] as InstanceWrapper;
    if (typeof instance !== 'object' || instance === null || found.has(instance)) continue;
    const moduleName = wrapper.host?.name ?? '';
    const methods = guardedMethodsOf(instance, { moduleName, isTwice: all.includes(instance, index + 1) });
    if (methods.length > 0) refuseManyInstances(wrapper, methods);
    found.set(instance, methods);
  }
  const registries = all.filter((instance) => instance instanceof SchedulerRegistry);
  return { instances: withModules(found), registries };
}

/** Adds the module to places that are equal: a class that two modules provide has two instances. */
function withModules(
  found: ReadonlyMap<object, readonly DiscoveredMethod[]>,
): ReadonlyMap<object, readonly DiscoveredMethod[]> {
  const places = [...found.values()].flat().map(({ place }) => place);
  const isAlone = (place: string): boolean => places.indexOf(place) === places.lastIndexOf(place);
  const named = (method: DiscoveredMethod): DiscoveredMethod =>
    isAlone(method.place) ? method : { ...method, place: `${method.place} (${method.moduleName})` };
  return new Map([...found].map(([instance, methods]) => [instance, methods.map(named)]));
}

function guardedMethodsOf(
  instance: object,
  found: Pick<DiscoveredMethod, 'moduleName' | 'isTwice'>,
): DiscoveredMethod[] {
  const prototype = Object.getPrototypeOf(instance) as object | null;
  return new MetadataScanner().getAllMethodNames(prototype).flatMap((key) => {
    const value = (instance as Record<string, unknown>)[key];
    const layers = layersOf(instance, key);
    const guarded = guardedMethodOf(value, ...layers);
    if (guarded === undefined || typeof value !== 'function') return [];
    const cron = cronOf(value);
    const place = `${instance.constructor.name}.${key}`;
    // Nest's calls for `@Interval` and `@Timeout` look like those of the application.
    if (cron === undefined && isScheduled(value) && guarded.definition.onSkip === 'throw')
      throw new InvalidLockUseError(
        `${place} has @Interval or @Timeout and onSkip: 'throw', so @nestjs/schedule would log every skipped tick as an error. Remove onSkip, or use @Cron.`,
      );
    return {
      ...found,
      instance,
      place,
      configuration: configurationOf(guarded),
      call: methodCall(instance, key),
      isScheduled: isScheduled(value),
      isHidden: !isScheduled(value) && layers.some(isScheduled),
      cron,
      schedules: schedulesOf(cron, intervalOf(value)),
      isAccepted: true,
    };
  });
}

/** The application has to start a job that is disabled, so its times are unknown. */
function schedulesOf(cron: CronMetadata | undefined, intervalMs: number | undefined): DeclaredSchedule[] {
  const { cronTime, timeZone, utcOffset, disabled } = cron ?? {};
  if (intervalMs !== undefined) return [{ every: intervalMs }];
  if (cronTime === undefined) return [];
  if (disabled === true) return [{ every: 0 }];
  // A date, also one of luxon.
  if (typeof cronTime !== 'string') return [{ at: new Date(Number(cronTime)).toISOString() }];
  const zone = typeof timeZone === 'string' ? timeZone : offsetOf(utcOffset);
  return [{ expression: cronTime, timeZone: zone, dialect: 'cron' }];
}

/** @param minutes east of UTC */
function offsetOf(minutes: unknown): string | undefined {
  if (typeof minutes !== 'number') return undefined;
  const part = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${part(Math.abs(minutes) / 60)}:${part(Math.abs(minutes) % 60)}`;
}

/** @throws InvalidLockUseError for a class with an instance per request or consumer, because no guard would know those */
function refuseManyInstances(wrapper: InstanceWrapper, [first]: readonly DiscoveredMethod[]): void {
  const isStatic = wrapper.isDependencyTreeStatic();
  if (isStatic && !wrapper.isTransient) return;
  const why = isStatic
    ? 'is transient: each of its consumers gets its own instance'
    : 'is request-scoped, or depends on a request-scoped provider: each request gets its own instance';
  throw new InvalidLockUseError(
    `${first?.place} has a lock, but its class ${why}. No schedule calls such an instance, and no guard knows it. Give the class the default scope, or inject JobGuard and call guard.run.`,
  );
}
