import type { Clock } from '../../core';
import type { JobAnswer, JobRegister, JobRegistration } from '../../ledger/job-register';
import {
  isOverdue,
  placeInTime,
  type Claim,
  type Run,
  type RunEvent,
  type RunKey,
  type LatestRun,
  type RunCount,
  type RunSummary,
} from '../../ledger/run';
import type {
  Decision,
  FoundRun,
  NewRun,
  OverdueScope,
  Peek,
  PeekRequest,
  PurgeRequest,
  PurgeStep,
  RunQuery,
  RunStore,
  SummaryQuery,
} from '../../ledger/run-store';
import { isOurs } from '../../ledger/tick/decide-outcome';
import {
  copyOf,
  countRuns,
  InMemoryRuns,
  eventAt,
  isFinal,
  newestOfEach,
  olderTicks,
  overdueSince,
  createRun,
  summarize,
  type StoredRun,
} from './in-memory-runs';

const MOST_OWED = 1000;

/** Runs that only this process sees. The library never falls back to it. */
export class InMemoryRunStore implements RunStore {
  readonly #runs: InMemoryRuns;

  /** With `runs`, it stands for another instance, and shares these runs and their clock. */
  constructor(options: { readonly clock?: Clock | undefined } | { readonly runs: InMemoryRuns } = {}) {
    this.#runs = 'runs' in options ? options.runs : new InMemoryRuns(options);
  }

  peek({ job, scope, periodKey, since }: PeekRequest): Promise<Peek> {
    return inOneStep(() => {
      const now = this.#runs.now();
      const runs = this.#all().filter((run) => run.job === job && run.scope === scope);
      const isAskedFor = (run: Run): boolean =>
        run.periodKey === periodKey || isOverdue(run, now) || (since !== undefined && isWithin(run, since));
      const startsOf = (those: readonly Run[]): number[] =>
        those.flatMap(({ periodStart }) => periodStart?.getTime() ?? []);
      const marked = since && startsOf(runs.filter((run) => isWithin(run, since) && this.#isMarked(run)));
      const first = marked?.length ? Math.max(...marked) : Math.min(...startsOf(runs));
      return {
        now,
        runs: runs.filter(isAskedFor).map(summarize),
        firstPeriodStart: first === Infinity ? undefined : new Date(first),
      };
    });
  }

  overdue(jobs: readonly string[]): Promise<readonly OverdueScope[]> {
    return inOneStep(() => {
      const now = this.#runs.now();
      const overdue = this.#all()
        .filter((run) => jobs.includes(run.job) && isOverdue(run, now))
        .sort((a, b) => overdueSince(a).getTime() - overdueSince(b).getTime());
      const scopes = new Map(overdue.map(({ job, scope }) => [JSON.stringify([job, scope]), { job, scope }]));
      return [...scopes.values()].slice(0, MOST_OWED);
    });
  }

  insert(run: NewRun): Promise<boolean> {
    return inOneStep(() => {
      if (this.#runs.row(run) !== undefined) return false;
      const now = this.#runs.now();
      this.#runs.add({ run: createRun(run, now), events: run.event ? [eventAt(now, run.event)] : [] });
      return true;
    });
  }

  change<T>(key: RunKey, decide: (found: FoundRun | undefined) => Decision<T>): Promise<T> {
    return inOneStep(() => {
      const row = this.#runs.row(key);
      if (row === undefined) return decide(undefined).value;
      const now = this.#runs.now();
      const { value, write, events = [] } = decide({ run: copyOf(row.run), now: new Date(now) });
      if (write !== undefined) this.#write(row, write, now);
      row.events.push(...events.map((event) => eventAt(now, event)));
      return value;
    });
  }

  complete(claim: Claim, result: string | undefined): Promise<boolean> {
    return inOneStep(() => {
      const row = this.#runs.row(claim);
      if (row?.run.state !== 'running' || !isOurs(row.run, claim)) return false;
      const now = this.#runs.now();
      const cleared = { nextAttemptAt: undefined, error: undefined };
      this.#write(row, { ...row.run, ...cleared, state: 'completed', result, finishedAt: now }, now);
      return true;
    });
  }

  find({ job, scope, periodKey, states, from, to, order, limit }: RunQuery): Promise<readonly Run[]> {
    return inOneStep(() => {
      const direction = order === 'oldest-first' ? 1 : -1;
      return this.#all()
        .filter((run) => job === undefined || run.job === job)
        .filter((run) => scope === undefined || run.scope === scope)
        .filter((run) => periodKey === undefined || run.periodKey === periodKey)
        .filter((run) => states === undefined || states.includes(run.state))
        .filter((run) => (from ?? to) === undefined || isWithin(run, from, to))
        .sort((a, b) => direction * (placeInTime(a) - placeInTime(b)))
        .slice(0, limit)
        .map(copyOf);
    });
  }

  latest(): Promise<readonly LatestRun[]> {
    return inOneStep(() => {
      const all = this.#all();
      const newest = new Map<string, Run>();
      for (const run of newestOfEach(all)) {
        const subject = JSON.stringify([run.job, run.scope]);
        if (newest.get(subject)?.periodStart === undefined) newest.set(subject, run);
      }
      const open = all.filter(({ state }) => state === 'running' || state === 'interrupted');
      return [...new Set([...newest.values(), ...open])].map((run) => ({
        ...summarize(run),
        error: run.error?.slice(0, 500),
      }));
    });
  }

  summaries({ jobs, from, to, limit }: SummaryQuery): Promise<readonly RunSummary[]> {
    return inOneStep(() =>
      this.#all()
        .filter((run) => jobs.includes(run.job) && isWithin(run, from, to))
        .reverse()
        .sort((a, b) => placeInTime(b) - placeInTime(a))
        .slice(0, limit)
        .map(summarize),
    );
  }

  counts({ jobs, from, to }: Omit<SummaryQuery, 'limit'>): Promise<readonly RunCount[]> {
    return inOneStep(() =>
      countRuns(this.#all().filter((run) => jobs.includes(run.job) && isWithin(run, from, to))),
    );
  }

  since(starts: ReadonlyMap<string, Date>): Promise<readonly RunSummary[]> {
    return inOneStep(() =>
      this.#all()
        .filter((run) => starts.has(run.job) && isWithin(run, starts.get(run.job)))
        .map(summarize),
    );
  }

  events(key: RunKey): Promise<readonly RunEvent[]> {
    return inOneStep(() =>
      (this.#runs.row(key)?.events ?? []).map(copyOf).sort((a, b) => a.at.getTime() - b.at.getTime()),
    );
  }

  purge({ olderThanMs, keptTicks, limit }: PurgeRequest): Promise<PurgeStep> {
    return inOneStep(() => {
      const now = this.#runs.now();
      const before = new Date(now.getTime() - olderThanMs);
      const newest = newestOfEach(this.#all());
      const older = keptTicks === undefined ? undefined : olderTicks(this.#all(), keptTicks);
      const purged = this.#all()
        .filter((run) => isFinal(run) && run.updatedAt < before && !newest.has(run))
        .filter(({ periodEnd }) => periodEnd === undefined || periodEnd < before)
        .filter((run) => older?.has(run) !== false)
        .slice(0, limit);
      for (const run of purged) this.#runs.delete(run);
      for (const last of newestOfEach(purged)) this.#markPurged(last, now);
      return { deleted: purged.length, next: purged.length < limit ? undefined : 'the oldest that are left' };
    });
  }

  registerJobs(jobs: readonly JobRegistration[]): Promise<void> {
    return inOneStep(() => this.#runs.jobs.register(jobs, this.#runs.now()));
  }

  jobs(): Promise<JobRegister> {
    return inOneStep(() => this.#runs.jobs.list(this.#runs.now()));
  }

  answerJobs(answers: readonly JobAnswer[]): Promise<void> {
    return inOneStep(() => this.#runs.jobs.answer(answers));
  }

  forgetJob(job: string, idleMs: number): Promise<boolean> {
    return inOneStep(() => this.#runs.jobs.forget(job, new Date(this.#runs.now().getTime() - idleMs)));
  }

  check(): Promise<void> {
    return Promise.resolve();
  }

  #isMarked(run: RunKey): boolean {
    return this.#runs.row(run)?.events.some(({ kind }) => kind === 'purged') === true;
  }

  #all(): Run[] {
    return this.#runs.rows().map(({ run }) => run);
  }

  /** Marks the first remaining run after the purged one. */
  #markPurged({ job, scope, periodStart, periodEnd }: Run, now: Date): void {
    if (periodEnd === undefined) return;
    const [next] = this.#runs
      .rows()
      .filter(({ run }) => run.job === job && run.scope === scope && isWithin(run, periodStart))
      .sort((a, b) => placeInTime(a.run) - placeInTime(b.run));
    if (next === undefined || this.#isMarked(next.run)) return;
    const mark = { generation: 0, attempt: 0, kind: 'purged', actor: 'ledger.purge' } as const;
    next.events.push(eventAt(now, { ...mark, fencingToken: undefined, detail: undefined }));
  }

  #write(row: StoredRun, run: Run, now: Date): void {
    const { job, scope, periodKey, periodStart, periodEnd, timeZone, createdAt } = row.run;
    const kept = { job, scope, periodKey, periodStart, periodEnd, timeZone, createdAt };
    row.run = copyOf({ ...run, ...kept, updatedAt: now });
  }
}

/** By the beginning of the period. A run without a period is never within. */
function isWithin({ periodStart }: Run, from?: Date, to?: Date): boolean {
  if (periodStart === undefined) return false;
  return (from === undefined || periodStart >= from) && (to === undefined || periodStart < to);
}

/** Runs without interruption. Rejects with the error of `step`. */
function inOneStep<T>(step: () => T): Promise<T> {
  return new Promise((resolve) => resolve(step()));
}
