import type { Run, RunKey, RunSummary } from 'cronlatch/provider';
import type { RunQuery, FoundRun, NewRun, RunStore } from '#cronlatch/ledger/run-store';
import { WithoutRegister } from '../stores/without-register';
import type { InMemoryJobs } from '#cronlatch/storage/memory/in-memory-jobs';
import type { Claim } from '#cronlatch/ledger/run';

/** How far the time of a test is ahead of the database's. */
export interface TimeAhead {
  ms: number;
  /** The register, in the time of the test. */
  readonly jobs: InMemoryJobs;
}

type Options = Parameters<RunStore['peek']>[1];

/**
 * A store with a settable now: its arguments and results are in the time of the test, its rows in the
 * database's.
 */
export class VirtualTimeStore extends WithoutRegister implements RunStore {
  constructor(
    private readonly inner: RunStore,
    private readonly ahead: TimeAhead,
    /** Moves the periods in the database back: purge computes their age only there. */
    private readonly shiftPeriodsBack: (milliseconds: number) => Promise<void>,
  ) {
    super();
  }

  override readonly registerJobs: RunStore['registerJobs'] = (jobs) =>
    Promise.resolve(this.ahead.jobs.register(jobs, this.#toTestTime(new Date())));

  override readonly answerJobs: RunStore['answerJobs'] = (answers) =>
    Promise.resolve(this.ahead.jobs.answer(answers));

  override readonly jobs: RunStore['jobs'] = () =>
    Promise.resolve(this.ahead.jobs.list(this.#toTestTime(new Date())));

  async peek(request: Parameters<RunStore['peek']>[0], options: Options): ReturnType<RunStore['peek']> {
    const peek = await this.inner.peek(request, options);
    return {
      ...peek,
      now: this.#toTestTime(peek.now),
      runs: peek.runs.map((run) => this.#toTestTimeRun(run)),
    };
  }

  overdue(jobs: readonly string[], options: Options): ReturnType<RunStore['overdue']> {
    return this.inner.overdue(jobs, options);
  }

  insert(run: NewRun, options: Options): Promise<boolean> {
    return this.inner.insert(run, options);
  }

  async change<T>(key: RunKey, decide: Parameters<RunStore['change']>[1], options: Options): Promise<T> {
    const inTime = (found: FoundRun | undefined): ReturnType<typeof decide> => {
      const run = found && { run: this.#toTestTimeRun(found.run), now: this.#toTestTime(found.now) };
      const decision = decide(run);
      return { ...decision, write: decision.write && shifted(decision.write, -this.ahead.ms) };
    };
    return (await this.inner.change(key, inTime, options)) as T;
  }

  complete(claim: Claim, result: string | undefined, options: Options): Promise<boolean> {
    return this.inner.complete(claim, result, options);
  }

  async find(query: RunQuery, options: Options): Promise<readonly Run[]> {
    return (await this.inner.find(query, options)).map((run) => this.#toTestTimeRun(run));
  }

  override readonly since: RunStore['since'] = async (starts, options) =>
    (await this.inner.since(starts, options)).map((run) => this.#toTestTimeRun(run));

  async events(key: RunKey, options: Options): ReturnType<RunStore['events']> {
    const events = await this.inner.events(key, options);
    return events.map((event) => ({ ...event, at: this.#toTestTime(event.at) }));
  }

  async purge(request: Parameters<RunStore['purge']>[0], options: Options): ReturnType<RunStore['purge']> {
    await this.shiftPeriodsBack(this.ahead.ms);
    const step = await this.inner.purge(request, options);
    await this.shiftPeriodsBack(-this.ahead.ms);
    return step;
  }

  #toTestTimeRun<R extends RunSummary>(run: R): R {
    return shifted(run, this.ahead.ms);
  }

  #toTestTime(at: Date): Date {
    return new Date(at.getTime() + this.ahead.ms);
  }
}

/** All instants but those of the period, which keep their times. */
function shifted<R extends RunSummary>(run: R, ms: number): R {
  const at = (instant: Date | undefined): Date | undefined => instant && new Date(instant.getTime() + ms);
  return {
    ...run,
    nextAttemptAt: at(run.nextAttemptAt),
    leaseUntil: at(run.leaseUntil),
    firstStartedAt: at(run.firstStartedAt),
    startedAt: at(run.startedAt),
    finishedAt: at(run.finishedAt),
    createdAt: at(run.createdAt),
    updatedAt: at(run.updatedAt),
  };
}
