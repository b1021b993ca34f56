import type { Clock, CronlatchEvents, EventHub, LockEvent, TickEvent } from '../../core';
import type { DeclaredJob, LastRunChange } from '../../ledger';
import { differencesOf } from '../../ledger/job-register';
import { everyDay } from '../../ledger/periods/calendar';
import { periodAt } from '../../ledger/periods/period';
import type { JobPolicy } from '../../ledger/policy/job-policy';
import type { Job, JobDeclaration } from './job';

/** A job of this guard that is registered. */
export class RegisterEntry {
  /** The register does not have this declaration yet. */
  isPending = true;
  /** The next scheduled time in the register, as far as it is known here. */
  next: Date | undefined;
  /** The scheduled time of the latest tick that was answered here. */
  answeredAt: Date | undefined;
  /** The scheduled time that was last reported as late. */
  reportedAt: Date | undefined;
  /** The last run of a job with a history, until it is recorded. */
  ended: EndedRun | undefined;

  constructor(
    readonly job: Job,
    readonly declared: DeclaredJob,
    readonly nextAfter: (after: Date) => Date | undefined,
  ) {}

  answer(scheduledAt: Date | undefined): void {
    if (scheduledAt !== undefined && (this.answeredAt ?? scheduledAt) <= scheduledAt)
      this.answeredAt = scheduledAt;
  }

  get isAnswered(): boolean {
    const { isPending, next, answeredAt } = this;
    return !isPending && next !== undefined && answeredAt !== undefined && next <= answeredAt;
  }

  /** `undefined` if the job has no periods, or its key function fails. */
  periodKeyAt(instant: Date): string | undefined {
    const { policy } = this.job;
    try {
      return policy && periodAt(instant, policy.period).key;
    } catch {
      return undefined; // Its ticks report the failure.
    }
  }

  /** Jobs that share a lock are one job of the register. */
  mergedWith(added: RegisterEntry): RegisterEntry {
    const { declared, answeredAt, reportedAt, ended } = this;
    const known = new Set(declared.schedules.map((schedule) => JSON.stringify(schedule)));
    const more = added.declared.schedules.filter((schedule) => !known.has(JSON.stringify(schedule)));
    const enabled = declared.enabled === added.declared.enabled ? declared.enabled : undefined;
    if (more.length === 0 && enabled === declared.enabled) return this;
    const both = { ...declared, schedules: [...declared.schedules, ...more], enabled };
    const merged = new RegisterEntry(this.job, both, (after) => {
      const times = [this.nextAfter(after), added.nextAfter(after)].filter((time) => time !== undefined);
      return times.sort((a, b) => a.getTime() - b.getTime())[0];
    });
    return Object.assign(merged, { answeredAt, reportedAt, ended });
  }
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
      if (entry !== undefined && isAnswer(event, entry)) entry.answer(event.scheduledAt);
    });
  }

  /** @returns `false` for a job that is not registered: nothing schedules it here, and it keeps no runs */
  add(job: Job, declaration: Partial<JobDeclaration>): boolean {
    const { schedules = [], intervalMs, nextAfter = () => undefined } = declaration;
    const isScheduled = schedules.length > 0 || intervalMs !== undefined;
    if (job.policy === undefined && !job.history && !isScheduled) return false;
    const name = registeredName(job);
    const earlier = this.byJob.get(name);
    const entry = new RegisterEntry(job, declaredJobOf(job, declaration), nextAfter);
    if (earlier === undefined || (job.policy && !earlier.job.policy)) this.byJob.set(name, entry);
    else if (!job.policy && !earlier.job.policy) this.byJob.set(name, earlier.mergedWith(entry));
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
    if (run === undefined) return entry.answer(scheduledAt);
    for (const time of [entry.next, scheduledAt])
      if (time && time.getTime() <= nowMs && run.periodKey === entry.periodKeyAt(time)) entry.answer(time);
  }
}

function isAnswer({ outcome, reason }: TickEvent, { job }: RegisterEntry): boolean {
  if (outcome === 'lock-failed' || NO_ANSWER.has(reason)) return false;
  return job.policy === undefined || !NO_RUN.has(reason);
}

/** The name under which a job is registered. */
export function registeredName({ policy, lock }: Job): string {
  return policy?.job ?? lock.name;
}

/** What the register shows of a job. Its keys always have the same order, because declarations are compared as JSON. */
function declaredJobOf(
  job: Job,
  { schedules = [], isDistributed = false, configuration }: Partial<JobDeclaration>,
): DeclaredJob {
  const { lock, policy, history } = job;
  return {
    lock: lock.name,
    lockAtMostForMs: lock.lockAtMostForMs,
    lockAtLeastForMs: lock.lockAtLeastForMs,
    keepAlive: lock.renewEveryMs !== undefined,
    kind: isDistributed ? 'tick' : kindOf(policy),
    timeZone: policy?.period.timeZone,
    dayStart: policy?.period.dayStart,
    target: policy?.period.target,
    schedules: schedules.map(({ expression, timeZone }) => ({ expression, timeZone })),
    retry: policy?.retry,
    onCrash: policy?.onCrash,
    catchUp: policy?.catchUp,
    startDeadlineMs: policy?.startDeadlineMs,
    hasCalendar: policy !== undefined && policy.calendar !== everyDay,
    scope: typeof policy?.scope === 'string' && policy.scope !== '' ? policy.scope : undefined,
    hasScopeFunction: typeof policy?.scope === 'function',
    history,
    enabled: configuration?.enabled === false ? false : undefined,
  };
}

function kindOf(policy: JobPolicy | undefined): DeclaredJob['kind'] {
  if (policy === undefined) return 'lock';
  return typeof policy.period.kind === 'function' ? 'custom' : policy.period.kind;
}

/** The fields that differ, each with both values, for a message. */
export function describeDifferences(there: DeclaredJob, here: DeclaredJob): string {
  return differencesOf(there, here)
    .map(({ option, before = 'none', now = 'none' }) => `${option} (there ${before}, here ${now})`)
    .join(', ');
}
