import type { Clock, CronlatchEvents, EventHub, LockEvent, TickEvent } from '../../core';
import type { DeclaredJob, LastRunChange } from '../../ledger';
import { periodAt } from '../../ledger/periods/period';
import { declaredJobOf, registeredName } from './declared-job';
import type { Job, JobDeclaration } from './job';

/** A job of this guard that is registered. */
export interface RegisterEntry {
  readonly job: Job;
  readonly declared: DeclaredJob;
  readonly nextAfter: (after: Date) => Date | undefined;
  /** The register does not have this declaration yet. */
  isPending: boolean;
  /** The next scheduled time in the register, as far as it is known here. */
  next: Date | undefined;
  /** The scheduled time of the latest tick that was answered here. */
  answeredAt: Date | undefined;
  /** The scheduled time that was last reported as overdue. */
  reportedAt: Date | undefined;
  /** The last run of a job with a history, until it is recorded. */
  ended: EndedRun | undefined;
}

/** Its times are monotonic. */
interface EndedRun extends Pick<LastRunChange, 'outcome'> {
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
}

type Reasons = ReadonlySet<string | undefined>;

/** Another instance may still answer a tick that this one has skipped for such a reason. */
const NO_ANSWER: Reasons = new Set(['disabled', 'closing', 'standby']);
/** A once-per job may have no run of its period then. If it has one, the next poll finds it. */
const NO_RUN: Reasons = new Set(['locked', 'running-here', 'calendar']);

/** The registered jobs of one guard. Its events show which ticks are answered, and how runs end. */
export class RegisterEntries {
  readonly byJob = new Map<string, RegisterEntry>();

  /** @param onEnded called when a run of a job with a history has ended, and its lock has been released */
  constructor(
    { events, clock }: { readonly events: EventHub; readonly clock: Clock },
    onEnded: (job: string, entry: RegisterEntry) => void,
  ) {
    const onEnd = (event: CronlatchEvents['run:completed'], outcome: 'completed' | 'failed'): void => {
      const entry = this.#entryOf(event);
      if (!entry?.declared.history) return;
      const finishedAtMs = clock.monotonicMs();
      entry.ended = { outcome, finishedAtMs, startedAtMs: finishedAtMs - event.durationMs };
    };
    events.on('run:started', (event) => this.#onStart(event, clock.wallMs()));
    events.on('run:completed', (event) => onEnd(event, 'completed'));
    events.on('run:failed', (event) => onEnd(event, 'failed'));
    events.on('tick', (event) => {
      const entry = this.#entryOf(event);
      if (entry?.ended !== undefined) onEnded(registeredName(entry.job), entry);
      if (entry !== undefined && isAnswer(event, entry)) answer(entry, event.scheduledAt);
    });
  }

  /** @returns `false` for a job that is not registered: nothing schedules it here, and it keeps no runs */
  add(job: Job, declaration: Partial<JobDeclaration>): boolean {
    const { schedules = [], intervalMs } = declaration;
    const isScheduled = schedules.length > 0 || intervalMs !== undefined;
    if (job.policy === undefined && !job.history && !isScheduled) return false;
    const name = registeredName(job);
    const earlier = this.byJob.get(name);
    const entry = newEntry(job, declaration);
    if (earlier === undefined || (job.policy && !earlier.job.policy)) this.byJob.set(name, entry);
    else if (!job.policy && !earlier.job.policy) this.byJob.set(name, mergedEntry(earlier, entry));
    return true;
  }

  #entryOf({ name, job = name }: LockEvent): RegisterEntry | undefined {
    return this.byJob.get(job);
  }

  /** Also of a run without a tick: a retry, or a missed period. */
  #onStart(event: CronlatchEvents['run:started'], nowMs: number): void {
    const { scheduledAt, run } = event;
    const entry = this.#entryOf(event);
    if (entry === undefined) return;
    if (run === undefined) return answer(entry, scheduledAt);
    for (const time of [entry.next, scheduledAt])
      if (time && time.getTime() <= nowMs && run.periodKey === periodKeyAt(entry, time)) answer(entry, time);
  }
}

function isAnswer({ outcome, reason }: TickEvent, { job }: RegisterEntry): boolean {
  if (outcome === 'lock-failed' || NO_ANSWER.has(reason)) return false;
  return job.policy === undefined || !NO_RUN.has(reason);
}

function newEntry(job: Job, declaration: Partial<JobDeclaration>): RegisterEntry {
  const { nextAfter = () => undefined } = declaration;
  return {
    ...{ job, declared: declaredJobOf(job, declaration), nextAfter, isPending: true },
    ...{ next: undefined, answeredAt: undefined, reportedAt: undefined, ended: undefined },
  };
}

/** Jobs that share a lock are one job of the register. */
function mergedEntry(earlier: RegisterEntry, added: RegisterEntry): RegisterEntry {
  const { declared } = earlier;
  const known = new Set(declared.schedules.map((schedule) => JSON.stringify(schedule)));
  const more = added.declared.schedules.filter((schedule) => !known.has(JSON.stringify(schedule)));
  const enabled = declared.enabled === added.declared.enabled ? declared.enabled : undefined;
  if (more.length === 0 && enabled === declared.enabled) return earlier;
  return {
    ...earlier,
    ...{ declared: { ...declared, schedules: [...declared.schedules, ...more], enabled } },
    ...{ isPending: true, next: undefined },
    nextAfter: (after) => {
      const times = [earlier.nextAfter(after), added.nextAfter(after)].filter((time) => time !== undefined);
      return times.sort((a, b) => a.getTime() - b.getTime())[0];
    },
  };
}

export function answer(entry: RegisterEntry, scheduledAt: Date | undefined): void {
  if (scheduledAt !== undefined && (entry.answeredAt ?? scheduledAt) <= scheduledAt)
    entry.answeredAt = scheduledAt;
}

export function isAnswered({ isPending, next, answeredAt }: RegisterEntry): boolean {
  return !isPending && next !== undefined && answeredAt !== undefined && next <= answeredAt;
}

/** `undefined` if the job has no periods, or its key function fails. */
export function periodKeyAt({ job }: RegisterEntry, instant: Date): string | undefined {
  try {
    return job.policy && periodAt(instant, job.policy.period).key;
  } catch {
    return undefined; // Its ticks report the failure.
  }
}
