import type { SchedulerRegistry } from '@nestjs/schedule';
import type { JobGuard } from '../../guard';
import { callsOf } from '../../guard/calls/calls';
import { invoke, extendInvocation, type GuardedCallee, type Invocation } from '../../guard/calls/invocation';
import { cronOf } from './schedule-metadata';

/** The part of cron's class `CronTime` that is used here. */
interface CronTime {
  /** The first scheduled time after `from`, which counts in whole seconds. */
  getNextDateFrom(from: Date, timeZone: string): { toMillis(): number };
}

const SECOND_MS = 1000;
/** `cron` searches eight years into the future. We search as far into the past. */
const MAX_SEARCH_MS = 8 * 366 * 86_400_000;

type CronJob = ReturnType<SchedulerRegistry['getCronJob']>;

type TickCallback = (this: unknown, ...args: unknown[]) => unknown;

const watched = new WeakSet<CronJob>();
const extended = new WeakSet<TickCallback>();

/**
 * Makes every tick of the registry's jobs, including later ones, pass its scheduled time to the guarded methods that it
 * calls. An error that the guard has reported ends at a method with `@Cron`; any other caller receives it. A tick in the
 * milliseconds in which its job is created counts as a manual call.
 */
export function attachScheduledTimes(registry: SchedulerRegistry, guard: JobGuard): void {
  for (const job of registry.getCronJobs().values()) watch(job, guard);
  const add = registry.addCronJob.bind(registry);
  registry.addCronJob = (name, job) => {
    add(name, job);
    watch(job, guard);
  };
}

function watch(job: CronJob, guard: JobGuard): void {
  if (watched.has(job)) return;
  watched.add(job);
  const nextTick = watchTicks(job);
  const fire = job.fireOnTick.bind(job);
  // An error of a guarded method ends at that method if only @nestjs/schedule would receive the error: the job calls the
  // method directly, and no decorator, for example of a monitoring tool, wraps it. A handler that calls the method among
  // others must get the error.
  const onReportedError: Invocation['onReportedError'] = (_error, { instance, method }) =>
    isScheduledBy(job, method) && (instance as Record<string, unknown>)[method.name] === method;
  job.fireOnTick = async () => {
    const firedAt = nextTick();
    if (firedAt === undefined) return await fire();
    const scheduledAt = scheduledTimeOf(job, firedAt, guard);
    extendTicks(job);
    await invoke({ scheduledAt, onReportedError, isTickOf: (callee) => isTickOf(job, callee) }, fire);
  };
}

/**
 * Extends the invocation of a tick until its handler has settled, because the handler may continue after `fireOnTick`
 * returns. The callbacks are private in `cron`. Tests check them for every supported version.
 */
function extendTicks(job: object): void {
  const { _callbacks: callbacks } = job as { _callbacks?: TickCallback[] };
  callbacks?.forEach((callback, index) => {
    if (extended.has(callback)) return;
    const extension = extendInvocation(callback);
    extended.add(extension);
    callbacks[index] = extension;
  });
}

/**
 * `cron` sets `lastExecution` before each tick, but not before a manual call of `fireOnTick`.
 *
 * @returns a function that returns when the current tick fired, or `undefined` for a manual call. A job that is late by a
 * few milliseconds begins its next tick before it calls the handler of the current one. So the tick that began last is the
 * first to call.
 */
function watchTicks(job: CronJob): () => Date | undefined {
  const begun: Date[] = [];
  let last = job.lastExecution;
  Object.defineProperty(job, 'lastExecution', {
    get: () => last,
    set(at: Date) {
      last = at;
      begun.push(at);
    },
    enumerable: true,
    configurable: true,
  });
  return () => begun.pop();
}

/** Never throws, because an error in `cron` would end the process. */
function scheduledTimeOf(job: CronJob, firedAt: Date, guard: JobGuard): Date | undefined {
  const { cronTime } = job;
  try {
    if (typeof cronTime.source !== 'string') return cronTime.source.toJSDate();
    return lastScheduledTime(cronTime, job.nextDate().zoneName ?? 'UTC', firedAt.getTime());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    callsOf(guard).warn(`The scheduled time of the tick at ${firedAt.toISOString()} is unknown: ${why}`);
    return undefined;
  }
}

/** Whether the job calls this method, also through other decorators. */
function isTickOf(job: CronJob, { instance, method }: GuardedCallee): boolean {
  if (isScheduledBy(job, method)) return true;
  const outermost = (instance as Record<string, unknown> | undefined)?.[method.name];
  return typeof outermost === 'function' && isScheduledBy(job, outermost);
}

function isScheduledBy({ name, cronTime: { source } }: CronJob, method: object): boolean {
  const cron = cronOf(method);
  if (cron === undefined || cron.name !== name) return false;
  if (typeof source === 'string') return cron.cronTime === source;
  return Number(cron.cronTime) === source.toJSDate().getTime();
}

/**
 * Finds the latest scheduled time that is not after `nowMs`. This is the scheduled time of a tick, however late it fires.
 * Keeps no state between ticks, so a changed clock, a stopped job or a new schedule cannot cause a wrong result.
 *
 * @returns `undefined` if there was none
 */
export function lastScheduledTime(cronTime: CronTime, timeZone: string, nowMs: number): Date | undefined {
  const nextMs = (fromMs: number): number => cronTime.getNextDateFrom(new Date(fromMs), timeZone).toMillis();
  // A scheduled time lies between `early` and now, and none between `late` and now. Most ticks are less than 1 s late.
  let late = nowMs;
  let early = nowMs - SECOND_MS;
  while (nextMs(early) > nowMs) {
    late = early;
    early = nowMs - 2 * (nowMs - early);
    if (nowMs - early > MAX_SEARCH_MS) return undefined;
  }
  while (late - early > SECOND_MS) {
    const middle = early + Math.floor((late - early) / 2);
    if (nextMs(middle) > nowMs) late = middle;
    else early = middle;
  }
  return new Date(nextMs(early));
}
