import type { ScheduledTask, TaskContext, TaskFn } from 'node-cron';
import {
  InvalidLockConfigurationError,
  InvalidLockUseError,
  LockStorageError,
  type Duration,
} from '../../core';
import { withinLimit } from '../../core/clock';
import { describeValue } from '../../core/options';
import { requireGuard } from '../../guard/configured-guard';
import { callsOf, type Calls } from '../../guard/calls/calls';
import type { AdmittedJob } from '../../guard/jobs/job';
import { currentRun } from '../../ledger';
import { checkedSchedule, type ScheduleOptions } from './cron-schedule';
import type { ScheduleJobsOptions } from './schedule-jobs';
import { scheduleTask } from './scheduled-task';

const OPTIONS = ['guard', 'name', 'lockAtMostFor'];
/** node-cron waits 5 s for an answer. */
const ANSWER_WITHIN_MS = 4000;
/** `2026-11-20T03:00:00.000Z` */
const INSTANT_LENGTH = 24;

export interface ScheduleDistributedOptions extends ScheduleJobsOptions, ScheduleOptions {
  /** Must be the same on all instances, and different from all other tasks and jobs. It names the job and its lock. */
  readonly name: string;
  /** Of the task's lock, which is renewed while the task runs. Default: that of the guard, or else 1 minute. */
  readonly lockAtMostFor?: Duration | undefined;
}

/**
 * Creates a task in node-cron's distributed mode: a job that runs once per tick. Each tick runs on one instance, which the
 * guard elects, and its run in the ledger records the outcome. The other instances get node-cron's `execution:skipped`.
 * `guard.close()` stops the task, waits for a running tick, and records its outcome.
 *
 * @throws InvalidLockConfigurationError for an invalid expression, time zone, name or duration, for a file, and if another
 * task or job has the same name
 * @throws InvalidLockUseError if the guard is closed
 * @throws NotConfiguredError if there is no guard
 */
export function scheduleDistributed(
  expression: string,
  task: TaskFn,
  options: ScheduleDistributedOptions,
): ScheduledTask {
  const { name } = options;
  if ('distributedLease' in options)
    throw new InvalidLockConfigurationError(
      `The option distributedLease of task '${name}' is gone: its lock is renewed while the task runs. Set lockAtMostFor instead: how long a crashed instance blocks the task.`,
    );
  const guard = requireGuard(options.guard, 'scheduleDistributed');
  const cron = checkedSchedule(expression, options, OPTIONS);
  // Of a file, node-cron does not report how each of its ticks ends.
  if (typeof task !== 'function')
    throw new InvalidLockConfigurationError(
      `Task '${name}' is a file. cronlatch distributes only functions: pass one that calls the file's function, or starts its process and waits for it.`,
    );
  const calls = callsOf(guard);
  calls.requireOncePerRunner('Distributed tasks need');
  const { lockAtMostFor = calls.parts.registry.defaults.lockAtMostFor ?? '1m' } = options;
  const oncePer = { period: 'tick', name } as const;
  const job = calls.admitOne({
    place: `scheduleDistributed('${expression}')`,
    configuration: { name, lockAtMostFor, lockAtLeastFor: 0, keepAlive: true, oncePer },
    call: () => (): unknown => task(contextOf(scheduled)),
    schedules: [cron],
    isAccepted: true,
  });
  const distributed = new DistributedTask(calls, job);
  calls.announce();
  const run = (context: TaskContext): Promise<unknown> => distributed.run(context, () => task(context));
  const runCoordinator = { shouldRun: (key: string) => distributed.elect(parseKey(key)) };
  const scheduled = scheduleTask(calls, job, { ...cron, name, distributed: true, runCoordinator }, run);
  // The ticks that wait for their random delay do not start.
  for (const event of ['task:stopped', 'task:destroyed'] as const)
    scheduled.on(event, () => distributed.giveBackWaiting());
  guard.onClose({ stop: async () => await scheduled.destroy() });
  return scheduled;
}

/** Of a run that no tick of node-cron has started: a retry, a request, or a tick that was given back. */
function contextOf(task: ScheduledTask): TaskContext {
  const { periodStart: date = new Date() } = currentRun();
  return { date, dateLocalIso: date.toISOString(), triggeredAt: new Date(), task };
}

/**
 * @param key of a tick: the task's name, a colon and the scheduled time
 * @returns the scheduled time
 * @throws InvalidLockUseError for any other key
 */
function parseKey(key: string): Date {
  const at = new Date(key.slice(-INSTANT_LENGTH));
  if (!Number.isNaN(at.getTime()) && key.endsWith(`:${at.toISOString()}`)) return at;
  throw new InvalidLockUseError(
    `${describeValue(key)} is not a node-cron run key, which is '<task name>:<ISO instant>'.`,
  );
}

/** A job that runs once per tick, and whose work node-cron starts. */
class DistributedTask {
  /** The ticks for which this instance was elected, until their calls end. */
  readonly #elected = new Map<number, ElectedTick>();

  constructor(
    private readonly calls: Calls,
    private readonly job: AdmittedJob,
  ) {}

  /**
   * @returns whether this instance runs the tick
   * @throws LockStorageError if the store did not confirm it within 4 s. The tick does not start here then
   */
  async elect(scheduledAt: Date): Promise<boolean> {
    const { calls, job } = this;
    const tick = new ElectedTick();
    this.#elected.set(scheduledAt.getTime(), tick);
    const task = (): Promise<unknown> => tick.run();
    const tickCall = { task, args: [], call: job.call, scheduledAt, willRetry: false };
    const called = calls.execute(job, tickCall);
    void called.finally(() => this.#elected.delete(scheduledAt.getTime())).catch(() => {}); // Events have reported it.
    const refused = called.then(() => false);
    const answered = Promise.race([tick.entered, refused]);
    const answer = await withinLimit(calls.parts.clock, answered, ANSWER_WITHIN_MS);
    if (answer !== 'time-out') return answer;
    tick.giveBack();
    throw new LockStorageError(
      `Tick ${scheduledAt.toISOString()} of task '${job.lock.name}' was not confirmed within ${ANSWER_WITHIN_MS / 1000} s, so it does not run here.`,
    );
  }

  /** Runs the work inside the run of its tick. Another call is a run of its own. */
  async run({ date, execution }: TaskContext, work: () => unknown): Promise<unknown> {
    const tick = execution?.reason === 'scheduled' ? this.#elected.get(date.getTime()) : undefined;
    if (tick !== undefined) return await tick.begin(work);
    const result = await this.calls.execute(this.job, { task: work, args: [], call: () => work });
    return result.executed ? result.value : undefined;
  }

  giveBackWaiting(): void {
    for (const tick of this.#elected.values()) tick.giveBack();
  }
}

/** The handler of a call, which waits until node-cron begins the work. */
class ElectedTick {
  #enter = (_is: true): void => {};
  readonly entered = new Promise<true>((resolve) => (this.#enter = resolve));
  #begin = (_work: () => unknown): void => {};
  readonly #begun = new Promise<() => unknown>((resolve) => (this.#begin = resolve));
  #end = (_result: Promise<unknown>): void => {};
  readonly #ended = new Promise<unknown>((resolve) => (this.#end = resolve));

  constructor() {
    this.#ended.catch(() => {}); // Also the result of `run`.
  }

  async run(): Promise<unknown> {
    this.#enter(true);
    const result = this.#begun.then((work) => work());
    this.#end(result);
    return await result;
  }

  /** @returns what the work returns */
  async begin(work: () => unknown): Promise<unknown> {
    this.#begin(work);
    return await this.#ended;
  }

  /** Unless its work has begun, so that the guard can start the run again. */
  giveBack(): void {
    this.#begin(() => currentRun().giveBack());
  }
}
