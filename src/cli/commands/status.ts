import type { Command } from 'commander';
import { parseDuration } from '../../core/duration';
import { instanceOf } from '../../core/lease/owner';
import type { JobGuard } from '../../guard';
import { skipsDates } from '../../guard/jobs/cron-expression';
import { periodAt, periodsBetween, type LateJob, type RegisteredJob, type RunSummary } from '../../ledger';
import { findLateJobs } from '../../ledger/late-jobs';
import { stateOfRun } from '../../ledger/operator/state-of-run';
import { calendarPeriodsOf } from '../../ledger/policy/job-policy';
import { EXIT } from '../failure';
import { addGuardCommand, withGuard } from '../guard-command';
import { declaredPolicy, KnownJobs, unreadableText } from '../known-jobs';
import type { Options } from '../options';
import { io, print, printJson, printTable, relative, shown, styled, type Row } from '../terminal';
import { commandOf, styledState } from './runs';

/** Something that an operator should look at. */
interface Problem {
  readonly kind: 'late' | 'missed' | 'failed' | 'interrupted' | 'unreadable';
  readonly text: string;
}

/** One job, with all its scopes. */
interface JobStatus {
  readonly job: string;
  readonly lastRun: LastRun | undefined;
  /** The runs that are running now. */
  readonly running: readonly RunSummary[];
  readonly nextScheduledAt: Date | undefined;
  readonly problems: readonly Problem[];
}

/** The run of the newest period, or of a job with `history: true` its last run. */
type LastRun = Pick<RunSummary, 'state' | 'startedAt' | 'finishedAt'> & {
  readonly periodKey?: string | undefined;
  readonly claimedBy: string | undefined;
};

/** `cronlatch status`: one line for each job. It sends two statements, however many jobs there are. */
export function addStatusCommand(program: Command): void {
  addGuardCommand(program, 'status', 'show the last run, the next tick and the problems of each job')
    .option('--check', 'print only the problems, and end with 5 if there are any')
    .option('--tolerance <duration>', 'how late a tick may be before its job is late', '5m')
    .action(withGuard(showStatus));
}

async function showStatus(
  guard: JobGuard,
  { check = false, tolerance, json }: Options & { readonly check?: boolean; readonly tolerance: string },
): Promise<void> {
  const toleranceMs = parseDuration(tolerance, '--tolerance');
  const known = await KnownJobs.of(guard);
  const jobs = statusOf(known, await known.latestRuns(), toleranceMs);
  const problems = jobs.flatMap((job) => job.problems.map((problem) => ({ job: job.job, ...problem })));
  if (check && problems.length > 0) io.exitCode = EXIT.problems;
  if (json) return printJson('status', { hasRegister: known.register !== undefined, jobs });
  const lines = problems.map(({ text }) => styled('red', text));
  if (check) return print([...lines, ...(lines.length === 0 ? ['no problems'] : [])].join('\n'));
  if (jobs.length === 0) print('there are no jobs yet');
  printTable(jobs.map((job) => rowOf(job, known.now)));
  if (lines.length > 0) print(`\n${lines.join('\n')}`);
  if (known.register === undefined)
    print('\nWithout a register of jobs, only jobs with runs are shown. cronlatch init creates it.');
}

function rowOf({ job, lastRun, running, nextScheduledAt, problems }: JobStatus, now: Date): Row {
  const holders = running.map(({ claimedBy = '' }) => instanceOf(claimedBy));
  const kinds = [...new Set(problems.map(({ kind }) => kind))].join(', ');
  return {
    job,
    'last run': lastRun?.periodKey,
    state: lastRun && styledState(lastRun),
    started: relative(lastRun?.startedAt, now),
    'running on': holders.join(', ') || undefined,
    'next tick': relative(nextScheduledAt, now),
    problem: kinds === '' ? undefined : ['red', kinds],
  };
}

function statusOf(
  { register, now }: KnownJobs,
  runs: readonly RunSummary[],
  toleranceMs: number,
): readonly JobStatus[] {
  const runsOf = new Map<string, RunSummary[]>();
  for (const run of runs) runsOf.set(run.job, [...(runsOf.get(run.job) ?? []), run]);
  const registered = new Map(register?.jobs.map((job) => [job.job, job]));
  const unreadable = new Map(register?.unreadable?.map((row) => [row.job, row]));
  const lateJobs = register === undefined ? [] : findLateJobs(register, toleranceMs);
  const late = new Map(lateJobs.map((job) => [job.job, job]));
  return [...new Set([...registered.keys(), ...unreadable.keys(), ...runsOf.keys()])].sort().map((name) => {
    const row = unreadable.get(name);
    const [job, own] = [registered.get(name), runsOf.get(name) ?? []];
    const newest = own.reduce<RunSummary | undefined>(
      (last, run) => (last === undefined || startOf(run) > startOf(last) ? run : last),
      undefined,
    );
    const problems = [
      ...(row ? problem('unreadable', unreadableText(row)) : []),
      ...lateText(late.get(name)),
      ...(job === undefined ? [] : [...missedBy(job, newest, now), ...failedBy(job)]),
      ...own.flatMap(problemOf),
    ];
    return {
      job: name,
      lastRun: newest ?? (job && lastOf(job)),
      running: own.filter(({ state }) => state === 'running'),
      nextScheduledAt: job?.nextScheduledAt,
      problems,
    };
  });
}

function startOf({ periodStart, createdAt }: RunSummary): Date {
  return periodStart ?? createdAt;
}

function lastOf(job: RegisteredJob): LastRun | undefined {
  const { lastOutcome: state, lastStartedAt: startedAt, lastFinishedAt: finishedAt, lastHolder } = job;
  return state === undefined ? undefined : { state, startedAt, finishedAt, claimedBy: lastHolder };
}

function problem(kind: Problem['kind'], text: string): Problem[] {
  return [{ kind, text }];
}

function lateText(job: LateJob | undefined): Problem[] {
  if (job === undefined) return [];
  const tick = shown(job.scheduledAt);
  return problem('late', `${job.job} is late: no instance has answered its tick of ${tick}`);
}

/** The last run of a job that has only a lock. */
function failedBy({ job, lastOutcome, lastFinishedAt }: RegisteredJob): Problem[] {
  return lastOutcome === 'failed' ? problem('failed', `${job} failed at ${shown(lastFinishedAt)}`) : [];
}

/** Whole periods since the newest run. A schedule that skips dates, and a calendar, expect no run in some of them. */
function missedBy(job: RegisteredJob, newest: RunSummary | undefined, now: Date): Problem[] {
  const { hasCalendar, schedules, enabled } = job.declared;
  const policy = declaredPolicy(job);
  const periods = policy && calendarPeriodsOf(policy);
  const isRegular = schedules.length > 0 && !schedules.some(({ expression }) => skipsDates(expression));
  if (periods === undefined || newest?.periodEnd === undefined || hasCalendar || !isRegular) return [];
  if (enabled === false) return [];
  const [first, ...more] = periodsBetween(newest.periodEnd, periodAt(now, periods).start, periods);
  if (first === undefined) return [];
  const others = more.length > 0 ? ` and ${more.length} more` : '';
  return problem('missed', `${job.job} has missed ${first.key}${others}`);
}

/** A run that no instance goes on with by itself. */
function problemOf(run: RunSummary): Problem[] {
  const { job, scope, periodKey, state, nextAttemptAt } = run;
  if (state !== 'interrupted' && !(state === 'failed' && nextAttemptAt === undefined)) return [];
  const found = stateOfRun(run);
  const name = `${job}${scope === '' ? '' : ` (${scope})`} ${periodKey}`;
  return problem(state, `${name} ${found.sentence}. ${found.remedy?.advice} ${commandOf(run, found)}`);
}
