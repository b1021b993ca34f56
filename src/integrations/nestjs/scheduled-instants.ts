import type { SchedulerRegistry } from '@nestjs/schedule';
import type { JobGuard } from '../../guard';
import { integrationOf } from '../../guard/integration';
import { invoke, prolongingInvocation, type GuardedCallee } from '../../guard/invocation';
import { lastInstant, type CronInstants } from './last-instant';
import { cronOf } from './schedule-metadata';

/** An expression, or a date at which a job runs once. */
type CronSource = string | { toJSDate(): Date };

/** The part of cron's `CronJob` that is needed here. */
interface TickingJob {
  fireOnTick(): Promise<void>;
  /** Set before each tick, and not by who calls `fireOnTick` by hand. */
  lastExecution: Date | null;
  readonly name?: string;
  readonly cronTime: CronInstants & { readonly source: CronSource };
  /** In the zone of the schedule. */
  nextDate(): { readonly zoneName: string | null };
}

type TickCallback = (this: unknown, ...args: unknown[]) => unknown;

const watched = new WeakSet<TickingJob>();
const prolonging = new WeakSet<TickCallback>();

/**
 * Has every tick of the jobs of a registry, those that come later included, tell the guarded methods that it calls for
 * which instant it came. Where the method is what `@Cron` stands on, what the guard has reported ends there; whoever
 * else calls one hears of its errors. A tick that falls due in the very milliseconds in which its job is made counts as a
 * call by hand.
 */
export function tellInstants(registry: SchedulerRegistry, guard: JobGuard): void {
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
    const scheduledAt = instantOf(job, firedAt, guard);
    prolongTicks(job);
    await invoke({ scheduledAt, reported: isEndOf }, fire);
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
    const prolonged = prolongingInvocation(callback);
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
function instantOf(job: TickingJob, firedAt: Date, guard: JobGuard): Date | undefined {
  const { cronTime } = job;
  try {
    if (typeof cronTime.source !== 'string') return cronTime.source.toJSDate();
    return lastInstant(cronTime, job.nextDate().zoneName ?? 'UTC', firedAt.getTime());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    integrationOf(guard).warn(
      `It is not known for which instant the tick of ${firedAt.toISOString()} came: ${why}`,
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
