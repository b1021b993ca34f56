import type { SchedulerRegistry } from '@nestjs/schedule';
import type { JobGuard } from '../../guard';
import { integrationOf } from '../../guard/job-guard';
import { invoke, extendInvocation, type GuardedCallee } from '../../guard/invocation';
import { cronOf } from './schedule-metadata';

/** The part of cron's class of this name that is needed here. */
interface CronTime {
  /** The first scheduled time after `from`, which counts in whole seconds. */
  getNextDateFrom(from: Date, timeZone: string): { toMillis(): number };
}

const SECOND_MS = 1000;
/** `cron` looks no further into the future than eight years; nor do we into the past. */
const LONGEST_LOOK_BACK_MS = 8 * 366 * 86_400_000;

/** An expression, or a date at which a job runs once. */
type CronSource = string | { toJSDate(): Date };

/** The part of cron's `CronJob` that is needed here. */
interface TickingJob {
  fireOnTick(): Promise<void>;
  /** Set before each tick, and not by who calls `fireOnTick` by hand. */
  lastExecution: Date | null;
  readonly name?: string;
  readonly cronTime: CronTime & { readonly source: CronSource };
  /** In the zone of the schedule. */
  nextDate(): { readonly zoneName: string | null };
}

type TickCallback = (this: unknown, ...args: unknown[]) => unknown;

const watched = new WeakSet<TickingJob>();
const prolonging = new WeakSet<TickCallback>();

/**
 * Every tick of the jobs of a registry, later jobs included, passes its scheduled time to the guarded methods that it
 * calls. An error that the guard has reported ends at a method with `@Cron`; any other caller receives it. A tick in the
 * very milliseconds in which its job is made counts as a call by hand.
 */
export function attachScheduledTimes(registry: SchedulerRegistry, guard: JobGuard): void {
  for (const job of registry.getCronJobs().values()) watch(job, guard);
  const add = registry.addCronJob.bind(registry);
  registry.addCronJob = (name, job) => {
    add(name, job);
    watch(job, guard);
  };
}

function watch(job: TickingJob, guard: JobGuard): void {
  if (watched.has(job)) return;
  watched.add(job);
  const nextTick = watchTicks(job);
  const fire = job.fireOnTick.bind(job);
  const isEndOf = endOfTicks(job);
  job.fireOnTick = async () => {
    const firedAt = nextTick();
    if (firedAt === undefined) return await fire();
    const scheduledAt = scheduledTimeOf(job, firedAt, guard);
    prolongTicks(job);
    await invoke({ scheduledAt, onReportedError: isEndOf }, fire);
  };
}

/**
 * A handler may go on after `fireOnTick`, and what it calls then still belongs to its tick. `cron` keeps its callbacks
 * private; the tests hold them, for every version of it.
 */
function prolongTicks(job: object): void {
  const { _callbacks: callbacks } = job as { _callbacks?: TickCallback[] };
  callbacks?.forEach((callback, index) => {
    if (prolonging.has(callback)) return;
    const prolonged = extendInvocation(callback);
    prolonging.add(prolonged);
    callbacks[index] = prolonged;
  });
}

/**
 * @returns when the tick came that calls now; `undefined` for a call by hand. A job that is behind by a few milliseconds
 * begins its next tick before it calls for the one at hand, so the last one that has begun is the first to call.
 */
function watchTicks(job: TickingJob): () => Date | undefined {
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

/** Never throws: `cron` would let it end the process. */
function scheduledTimeOf(job: TickingJob, firedAt: Date, guard: JobGuard): Date | undefined {
  const { cronTime } = job;
  try {
    if (typeof cronTime.source !== 'string') return cronTime.source.toJSDate();
    return lastScheduledTime(cronTime, job.nextDate().zoneName ?? 'UTC', firedAt.getTime());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    integrationOf(guard).warn(
      `The scheduled time of the tick at ${firedAt.toISOString()} is unknown: ${why}`,
    );
    return undefined;
  }
}

/**
 * Tells whether nothing but @nestjs/schedule hears of an error of a guarded method: whether the job was made for it, and
 * nothing, as a decorator of monitoring, is wrapped around it. A handler that calls it among others must not go on.
 */
function endOfTicks({
  name,
  cronTime: { source },
}: TickingJob): (error: unknown, callee: GuardedCallee) => boolean {
  return (_error, { instance, method }) => {
    const cron = cronOf(method);
    if (cron === undefined || cron.name !== name || !isOf(source, cron.cronTime)) return false;
    return (instance as Record<string, unknown>)[method.name] === method;
  };
}

function isOf(source: CronSource, cronTime: unknown): boolean {
  return typeof source === 'string' ? cronTime === source : Number(cronTime) === source.toJSDate().getTime();
}

/**
 * The latest scheduled time that is not after `nowMs`: that of a tick, however late the tick is.
 * Nothing is kept from tick to tick, so that a clock that was set, a job that stood still or a schedule that was changed
 * leaves nothing wrong behind.
 *
 * @returns `undefined` when there was none
 */
export function lastScheduledTime(cronTime: CronTime, timeZone: string, nowMs: number): Date | undefined {
  const nextMs = (fromMs: number): number => cronTime.getNextDateFrom(new Date(fromMs), timeZone).toMillis();
  // There is a scheduled time between `early` and now, and none between `late` and now. A tick is rarely late by a second.
  let late = nowMs;
  let early = nowMs - SECOND_MS;
  while (nextMs(early) > nowMs) {
    late = early;
    early = nowMs - 2 * (nowMs - early);
    if (nowMs - early > LONGEST_LOOK_BACK_MS) return undefined;
  }
  while (late - early > SECOND_MS) {
    const middle = early + Math.floor((late - early) / 2);
    if (nextMs(middle) > nowMs) late = middle;
    else early = middle;
  }
  return new Date(nextMs(early));
}
