import { periodAt } from '../ledger/periods/period';
import type { JobPolicy } from '../ledger/policy/job-policy';
import { newReport, type OncePerRequest, type Report } from '../ledger/tick/plan-tick';
import { limitOf } from '../ledger/store-statements';
import type { OncePerJobs } from './once-per-jobs';
import type { AdmittedJob, OncePer } from './job';

/** What `runOverdue` found. */
export interface OverdueResult {
  /** How many runs were started. */
  readonly started: number;
  /** How many are still overdue: another instance holds their lock, or the lease was too short for all of them. */
  readonly overdue: number;
}

type OncePerJob = OncePer<AdmittedJob>;

/** A job and scope that may have overdue runs. */
interface Unit {
  readonly job: OncePerJob;
  readonly scope: string;
}

/** Starts the overdue runs of the admitted once-per jobs of one guard. */
export class OverdueRuns {
  /** Those that an earlier call still works on. */
  readonly #busy = new Set<string>();
  /** In which period, by the database's clock, nothing was left to be caught up with of a job. */
  readonly #caughtUp = new Map<string, string>();
  #cancelTimer: (() => void) | undefined;
  /** How many calls the store has not answered yet. */
  #looks = 0;

  constructor(
    private readonly jobs: OncePerJobs,
    private readonly everyMs: number | undefined,
  ) {}

  /** From the first registered job on. Does not keep the process alive. */
  start(): void {
    if (this.everyMs === undefined || this.#cancelTimer !== undefined || this.#isClosing) return;
    const { clock, events } = this.jobs.context;
    const tick = (): void => {
      this.#cancelTimer = undefined;
      this.start();
      // A store that is slow is not asked more and more often. Runs that go on keep no look waiting.
      if (this.#isLooking) return;
      this.run().catch((error: unknown) =>
        events.emit('guard:warning', {
          message: 'What is overdue could not be looked up; it is tried again.',
          error,
        }),
      );
    };
    this.#cancelTimer = clock.schedule(this.everyMs, tick, { keepAlive: false });
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** @throws LockStorageError when the store cannot be asked what is due */
  async run(): Promise<OverdueResult> {
    this.#looks += 1;
    const units = await this.#units().finally(() => (this.#looks -= 1));
    // Those that have one lock would only be in each other's way.
    const lastOf = new Map<string, Promise<OverdueResult>>();
    const bringBackInTurn = (unit: Unit): Promise<OverdueResult> => {
      const { name } = unit.job.lock;
      const result = (lastOf.get(name) ?? Promise.resolve()).then(() => this.#bringBack(unit));
      lastOf.set(name, result);
      return result;
    };
    const results = await Promise.all([...units.values()].map(bringBackInTurn));
    const sum = (key: keyof OverdueResult): number =>
      results.reduce((total, result) => total + result[key], 0);
    return { started: sum('started'), overdue: sum('overdue') };
  }

  get #isLooking(): boolean {
    return this.#looks > 0;
  }

  get #isClosing(): boolean {
    return this.jobs.lockExecutor.runs.closing;
  }

  async #units(): Promise<ReadonlyMap<string, Unit>> {
    const { registered, unanswered, context } = this.jobs;
    const units = new Map<string, Unit>();
    if (this.#isClosing) return units;
    const add = (name: string, scope: string): void => {
      const job = registered.get(name);
      if (job?.isReady()) units.set(JSON.stringify([name, scope]), { job, scope });
    };
    if (registered.all.length === 0) return units;
    for (const { policy, scope } of unanswered.all) add(policy.job, scope);
    for (const job of registered.all.filter((each) => this.#mayHaveMissed(each)))
      add(job.policy.job, fixedScopeOf(job.policy));
    const names = registered.all.map(({ policy }) => policy.job);
    for (const { job, scope } of await context.store.overdue(names, limitOf(context))) add(job, scope);
    return units;
  }

  /** Since nothing was left, a period can only have been missed when another one has begun. */
  #mayHaveMissed({ policy }: OncePerJob): boolean {
    if (policy.catchUp.catchUp === 'none' || typeof policy.scope === 'function') return false;
    // Of a key function nothing is known but the ticks that were kept.
    if (typeof policy.period.kind === 'function') return false;
    return this.#caughtUp.get(policy.job) !== this.#currentKey(policy);
  }

  #currentKey(policy: JobPolicy): string {
    return periodAt(new Date(this.jobs.context.clock.wallMs()), policy.period).key;
  }

  /** Never rejects: what goes wrong is told by events. */
  async #bringBack({ job, scope }: Unit): Promise<OverdueResult> {
    const { policy, lock } = job;
    const busy = JSON.stringify([policy.job, scope]);
    const runsHere = this.jobs.lockExecutor.runs.refusal(lock.name) !== undefined;
    if (this.#busy.has(busy) || runsHere) return { started: 0, overdue: 0 };
    this.#busy.add(busy);
    const reports: Report[] = [];
    // One after the other: they share a lock.
    for (const request of this.#requests({ job, scope })) reports.push(await this.#send(request));
    this.#busy.delete(busy);
    const started = reports.reduce((sum, report) => sum + report.started, 0);
    const overdue = reports.reduce((sum, report) => sum + Math.max(0, report.overdue - report.started), 0);
    const [caughtUpIn] = reports.flatMap((report) => report.caughtUpIn ?? []);
    if (caughtUpIn !== undefined) this.#caughtUp.set(policy.job, caughtUpIn);
    return { started, overdue };
  }

  async #send(request: OncePerRequest<unknown>): Promise<Report> {
    const report = newReport();
    try {
      await this.jobs.send(request, report);
    } catch {
      // An event has told it: lock:failed, run:failed.
    }
    return report;
  }

  /** A tick that is asked again brings back what else is overdue by the way. */
  #requests({ job, scope }: Unit): OncePerRequest<unknown>[] {
    const again = this.jobs.unanswered.take(job.policy.job, scope);
    return again.length > 0 ? again : [this.jobs.overdueRequest(job, scope)];
  }
}

function fixedScopeOf({ scope }: JobPolicy): string {
  return typeof scope === 'string' ? scope : '';
}
