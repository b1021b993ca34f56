import type { JobPolicy } from '../../ledger/policy/job-policy';
import { limitOf } from '../../ledger/store-statements';
import type { OncePerJobRunner } from '../calls/once-per-job-runner';
import type { AdmittedOncePerJob } from '../jobs/job';
import { sumOf, type OverdueResult, type Service, type StartedRuns } from './upkeep';

/** A job and scope that may have overdue runs. */
interface JobScope {
  readonly job: AdmittedOncePerJob;
  readonly scope: string;
}

/** Starts the overdue runs of the admitted once-per jobs of one guard. */
export class OverdueRuns implements Service {
  readonly failure = 'Could not look up the overdue runs. The guard will try again at the next poll.';
  /** The jobs and scopes that an earlier call is still working on. */
  readonly #busy = new Set<string>();
  /** By job, the period of the database's clock in which nothing was left to catch up with. */
  readonly #caughtUp = new Map<string, string>();

  constructor(private readonly runner: OncePerJobRunner) {}

  /** @throws LockStorageError if the overdue runs cannot be read from the store */
  async run(): Promise<StartedRuns | void> {
    const { registry, lockExecutor } = this.runner;
    if (lockExecutor.runs.closing) return;
    if (!this.#mayRun(() => !registry.isOnStandby, ': the standby function')) return;
    const jobScopes = await this.#findJobScopes();
    // Jobs that share a lock would only block each other, so they run one after the other.
    const lastOf = new Map<string, Promise<OverdueResult>>();
    const runInTurn = (each: JobScope): Promise<OverdueResult> => {
      const { name } = each.job.lock;
      const result = (lastOf.get(name) ?? Promise.resolve()).then(() => this.#runJobScope(each));
      lastOf.set(name, result);
      return result;
    };
    return { ended: Promise.all([...jobScopes.values()].map(runInTurn)).then(sumOf) };
  }

  async #findJobScopes(): Promise<ReadonlyMap<string, JobScope>> {
    const { registry, ticksToRetry, context } = this.runner;
    const jobScopes = new Map<string, JobScope>();
    const enabled = registry.all.filter(({ isEnabled, policy: { job } }) =>
      this.#mayRun(isEnabled, ` of job '${job}': its enabled function`),
    );
    const names = enabled.map(({ policy }) => policy.job);
    const add = (name: string, scope: string): void => {
      const job = enabled[names.indexOf(name)];
      if (job !== undefined && job.isReady?.() !== false)
        jobScopes.set(JSON.stringify([name, scope]), { job, scope });
    };
    if (enabled.length === 0) return jobScopes;
    for (const { policy, scope } of ticksToRetry.values()) add(policy.job, scope);
    for (const { policy } of enabled)
      if (typeof policy.scope === 'string' && this.#mayHaveMissed(policy)) add(policy.job, policy.scope);
    for (const { job, scope } of await context.store.overdue(names, limitOf(context))) add(job, scope);
    return jobScopes;
  }

  /** @param failure what follows "Could not start the overdue runs" in the warning if the function fails */
  #mayRun(check: () => boolean, failure: string): boolean {
    try {
      return check();
    } catch (error) {
      this.runner.context.events.warn(`Could not start the overdue runs${failure} failed.`, error);
      return false;
    }
  }

  /** After a complete catch-up, a period can only be missed once a new period has begun. */
  #mayHaveMissed({ job, catchUp, period, periodAt }: JobPolicy): boolean {
    // With a key function, the expected periods are unknown.
    if (catchUp.catchUp === 'none' || typeof period.kind === 'function') return false;
    const { key } = periodAt(new Date(this.runner.context.clock.wallMs()));
    return this.#caughtUp.get(job) !== key;
  }

  /** Never rejects. Events report the failures. */
  async #runJobScope({ job, scope }: JobScope): Promise<OverdueResult> {
    const { policy, lock } = job;
    const busy = JSON.stringify([policy.job, scope]);
    const runsHere = this.runner.lockExecutor.runs.refusal(lock.name) !== undefined;
    if (this.#busy.has(busy) || runsHere) return { started: 0, overdue: 0 };
    this.#busy.add(busy);
    const ticks = this.runner.takeOverdue(job, scope);
    // They share a lock, so they run one after the other. An event reports a failure: lock:failed or run:failed.
    for (const tick of ticks) await this.runner.runTick(tick).catch(() => undefined);
    this.#busy.delete(busy);
    const [caughtUpPeriod] = ticks.flatMap((tick) => tick.caughtUpPeriod ?? []);
    if (caughtUpPeriod !== undefined) this.#caughtUp.set(policy.job, caughtUpPeriod);
    return sumOf(ticks.map(({ started, overdue }) => ({ started, overdue: Math.max(0, overdue - started) })));
  }
}
