import type { DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { InvalidLockUseError } from '../../core';
import { configurationOf, guardedMethodOf, layersOf, methodCall } from '../../guard/calls/guarded-method';
import type { JobDeclaration } from '../../guard/jobs/job';
import type { DeclaredSchedule } from '../../ledger';
import { cronOf, intervalOf, isScheduled, type CronMetadata } from './schedule-metadata';

export interface Application {
  readonly discovery: DiscoveryService;
  readonly scanner: MetadataScanner;
  readonly modules: ModulesContainer;
}

export interface DiscoveredMethod extends JobDeclaration {
  readonly instance: object;
  readonly moduleName: string;
  readonly isScheduled: boolean;
  /** Whether a decorator of another library hides the schedule from @nestjs/schedule. */
  readonly isHidden: boolean;
  readonly cron: CronMetadata | undefined;
}

type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** Finds all instances of the application, each with its guarded methods. */
export function discover(application: Application): ReadonlyMap<object, readonly DiscoveredMethod[]> {
  const { discovery, scanner } = application;
  const found = new Map<object, readonly DiscoveredMethod[]>();
  for (const wrapper of wrappersOf(discovery)) {
    const instance: unknown = wrapper.instance;
    if (typeof instance !== 'object' || instance === null || found.has(instance)) continue;
    const methods = guardedMethodsOf(instance, scanner, wrapper.host?.name ?? '');
    if (methods.length > 0) refuseManyInstances(wrapper, methods);
    found.set(instance, methods);
  }
  return withModules(found);
}

/** The instances that have a second token. @nestjs/schedule mounts their jobs once for each token. */
export function instancesWithTwoTokens(discovery: DiscoveryService): ReadonlySet<unknown> {
  const instances = wrappersOf(discovery).map(({ instance }) => instance as unknown);
  return new Set(instances.filter((instance, index) => instances.indexOf(instance) < index));
}

/** One for each import of ScheduleModule. */
export function registriesOf(discovery: DiscoveryService): SchedulerRegistry[] {
  const instances = wrappersOf(discovery).map(({ instance }) => instance as unknown);
  return instances.filter((instance) => instance instanceof SchedulerRegistry);
}

function wrappersOf(discovery: DiscoveryService): InstanceWrapper[] {
  return [...discovery.getControllers(), ...discovery.getProviders()];
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
  scanner: MetadataScanner,
  moduleName: string,
): DiscoveredMethod[] {
  const prototype = Object.getPrototypeOf(instance) as object | null;
  return scanner.getAllMethodNames(prototype).flatMap((key) => {
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
      instance,
      place,
      moduleName,
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
