import type { ScheduledTask, TaskContext } from 'node-cron';
import { FatalJobError, LockStorageError, type Duration } from '../../core';
import { withinLimit } from '../../core/clock';
import type { Calls } from '../../guard/calls/calls';
import type { Job, JobDeclaration } from '../../guard/jobs/job';
import type { LabelledConfiguration } from '../../guard/jobs/job-guard-options';
import { currentRun } from '../../ledger';

/** node-cron waits 5 s for an answer. */
const ANSWER_WITHIN_MS = 4000;

/** A task of node-cron's distributed mode. It is a job that runs once per tick, and whose work node-cron starts. */
export class DistributedTask {
  /** The ticks for which this instance was elected, until their calls end. */
  readonly #elected = new Map<number, ElectedTick>();
  /** node-cron has asked for at least one tick. */
  isCoordinated = false;

  /** @param job its `call` starts the task for a retry or a request. Without one, only node-cron can start it */
  constructor(
    private readonly calls: Calls,
    private readonly job: Job & Partial<JobDeclaration>,
  ) {}

  /**
   * @returns whether this instance runs the tick
   * @throws LockStorageError if the store did not confirm it within 4 s. The tick does not start here then
   */
  async elect(scheduledAt: Date): Promise<boolean> {
    this.isCoordinated = true;
    const { lock, call = () => refuseCall } = this.job;
    const tick = new ElectedTick(this.job.call !== undefined);
    this.#elected.set(scheduledAt.getTime(), tick);
    const task = (): Promise<unknown> => tick.run();
    const tickCall = { task, args: [], call, scheduledAt, willRetry: false };
    const called = this.calls.execute(this.job, tickCall);
    void called.finally(() => this.#elected.delete(scheduledAt.getTime())).catch(() => {}); // Events have reported it.
    const refused = called.then(() => false);
    const { clock } = this.calls.requireOncePerRunner('Distributed tasks need').context;
    const answer = await withinLimit(clock, Promise.race([tick.entered, refused]), ANSWER_WITHIN_MS);
    if (answer !== 'time-out') return answer;
    const message = `Tick ${scheduledAt.toISOString()} of task '${lock.name}' was not confirmed within ${ANSWER_WITHIN_MS / 1000} s`;
    tick.cancel(`${message}.`);
    throw new LockStorageError(`${message}, so it does not run here.`);
  }

  electedTick(at: Date): ElectedTick | undefined {
    return this.#elected.get(at.getTime());
  }

  /** Runs the work inside the run of its tick. Another call is a run of its own. */
  async run({ date, execution }: TaskContext, work: () => unknown): Promise<unknown> {
    const tick = execution?.reason === 'scheduled' ? this.electedTick(date) : undefined;
    if (tick !== undefined) return await tick.begin(work);
    const call = (): (() => unknown) => work;
    const result = await this.calls.execute(this.job, { task: call(), args: [], call });
    return result.executed ? result.value : undefined;
  }

  /** When the task is stopped or destroyed, the ticks that wait for their random delay do not start. */
  cancelAtEndOf(task: ScheduledTask): void {
    const cancelAll = (): void => {
      for (const tick of this.#elected.values()) tick.cancel('The task was stopped during its random delay.');
    };
    for (const event of ['task:stopped', 'task:destroyed'] as const) task.on(event, cancelAll);
  }
}

/** The handler of a call, which waits until node-cron begins the work. */
export class ElectedTick {
  hasBegun = false;
  #enter = (_is: true): void => {};
  readonly entered = new Promise<true>((resolve) => (this.#enter = resolve));
  #begin = (_work: () => unknown): void => {};
  readonly #begun = new Promise<() => unknown>((resolve) => (this.#begin = resolve));
  #end = (_result: Promise<unknown>): void => {};
  readonly #ended = new Promise<unknown>((resolve) => (this.#end = resolve));

  constructor(private readonly canBeGivenBack: boolean) {
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
    this.hasBegun = true;
    this.#begin(work);
    return await this.#ended;
  }

  /** Unless its work has begun. The run is given back if the guard can start it again, and has failed otherwise. */
  cancel(why: string): void {
    this.#begin(() => {
      if (!this.canBeGivenBack) throw new FatalJobError(why);
      currentRun().giveBack();
    });
  }
}

/** The job of a task: its name is also that of its lock. */
export function configurationOf(
  name: string,
  calls: Calls,
  lockAtMostFor: Duration = calls.parts.registry.defaults.lockAtMostFor ?? '1m',
): LabelledConfiguration {
  return { name, lockAtMostFor, lockAtLeastFor: 0, keepAlive: true, oncePer: { period: 'tick', name } };
}

function refuseCall(): never {
  throw new FatalJobError('Only node-cron can start this task. Create it with scheduleDistributed.');
}
