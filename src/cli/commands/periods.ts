import type { Command } from 'commander';
import type { JobGuard } from '../../guard';
import { unreadableRemark } from '../../operations/remarks';
import { countText } from '../../operations/state-texts';
import type { DeclaredJob } from '../../ledger';
import { nextTimeOf } from '../../ledger/expected';
import { describeSchedules } from '../../ledger/job-register';
import { backfill as addRuns } from '../../ledger/operator/backfill';
import { dateOf, dayOf } from '../../ledger/periods/business-date';
import { fixedScopeOf } from '../../ledger/policy/job-policy';
import { EXIT } from '../exit-codes';
import { orConflict, UsageError } from '../failure';
import { addChangeCommand, addGuardCommand, agrees, withGuard } from '../guard-command';
import { JobCatalog } from '../../operations/job-catalog';
import { startOf, type ChangeOptions, type Options } from '../options';
import { zoneOf } from '../../ledger/known-register';
import { io, print, printAdvice, printJson, printTable, printText, shown, timesOf } from '../terminal';

const SCOPE = ['--scope <scope>', 'the scope, if the job has scopes'] as const;

/**
 * `cronlatch jobs` lists what the instances declare about their jobs, and `forget` removes a job. `missed` and
 * `backfill` compute the periods of a job from that.
 */
export function addPeriodCommands(program: Command): void {
  const jobs = 'list the registered jobs, and what deployments declare differently';
  addGuardCommand(program, 'jobs', jobs).action(withGuard(listJobs));
  const gone = 'remove a job that your code no longer has from the register';
  addChangeCommand(program, 'forget <job>', gone).action(withGuard(forget));
  addGuardCommand(program, 'missed <job>', 'list the periods of a job that have no run')
    .option('--from <date>', 'how far back, as in 2026-11-20 (default: to the first recorded run)')
    .option(...SCOPE)
    .action(withGuard(listMissed));
  addChangeCommand(program, 'backfill <job>', 'add runs for the business days of a range that have none')
    .requiredOption('--from <date>', 'the first business date')
    .requiredOption('--to <date>', 'the last business date')
    .option(...SCOPE)
    .option('--force', "also before the job's first recorded run")
    .action(withGuard(backfill));
}

async function listJobs(guard: JobGuard, { json }: Options): Promise<void> {
  const { register } = await JobCatalog.of(guard);
  if (register === undefined)
    throw new UsageError(
      'This database has no register of jobs. Create it with cronlatch init. The instances fill it when they start.',
    );
  const { unreadable = [], now } = register;
  const jobs = register.jobs.map((job) => ({ ...job, nextScheduledAt: nextTimeOf(job, now) }));
  if (json) return printJson('jobs', { jobs, unreadable });
  if (jobs.length + unreadable.length === 0) return print('no job is registered');
  const times = timesOf(
    jobs.map(({ declared }) => zoneOf(declared)),
    now,
  );
  printText(`${countText(jobs.length, 'job')} · ${times.head}`, 'bold');
  const rows = jobs.map(({ job, declared, nextScheduledAt, registeredAt, registeredBy }) => ({
    job,
    runs: periodText(declared),
    schedule: describeSchedules(declared) || undefined,
    next: times.at(nextScheduledAt),
    registered: times.at(registeredAt),
    by: registeredBy,
  }));
  printTable(rows, { drop: ['registered', 'by', 'runs'], wrap: 'schedule' });
  if (unreadable.length > 0) print('');
  for (const row of unreadable) printAdvice(unreadableRemark(row), 'red');
}

async function forget(guard: JobGuard, options: ChangeOptions, job = ''): Promise<void> {
  const { actor, reason, json } = options;
  const { ledger } = await JobCatalog.of(guard);
  const change = `remove job ${shown(job)} from the register, so that it is never late. Its runs and its lock stay`;
  if (!(await agrees([change], options))) return;
  await orConflict(ledger.forget(job));
  if (json) printJson('forget', { forgotten: job, actor, reason });
  else print(`forgot ${shown(job)}`);
}

const WITHOUT_PERIOD: Partial<Record<DeclaredJob['kind'], string>> = {
  lock: 'at every tick',
  tick: 'once per tick',
  custom: 'once per key',
};

function periodText({ kind, timeZone, target }: DeclaredJob): string {
  const previous = target === 'previous' ? ', for the previous one' : '';
  return WITHOUT_PERIOD[kind] ?? `once per ${kind}, ${timeZone}${previous}`;
}

async function listMissed(
  guard: JobGuard,
  { from, scope: given, json }: Options & { readonly from?: string },
  job = '',
): Promise<void> {
  const jobs = await JobCatalog.of(guard);
  const policy = jobs.policy(job);
  const scope = given ?? fixedScopeOf(policy);
  const since = from === undefined ? undefined : startOf(from, '--from', policy.period);
  const missed = await jobs.ledger.gaps(job, { scope, from: since });
  if (missed.length > 0) io.exitCode = EXIT.problems;
  if (json) return printJson('missed', { job, scope, from: since, missed });
  const { timeZone } = policy.period;
  const times = timesOf([timeZone], jobs.now);
  const beginning = since ? ` since ${times.at(since)}` : '';
  if (missed.length === 0)
    return printText(`${job} has missed nothing${beginning && `${beginning} · ${times.head}`}`, 'bold');
  printText(`${missed.length} missed${beginning} · ${times.head}`, 'bold');
  printTable(
    missed.map(({ key, start, end }) => ({
      period: key,
      from: times.at(start),
      until: times.at(end),
    })),
    { drop: ['until'] },
  );
}

async function backfill(
  guard: JobGuard,
  options: ChangeOptions & { readonly from: string; readonly to: string; readonly force?: boolean },
  job = '',
): Promise<void> {
  const { force, actor, reason, json } = options;
  const from = dateOf(dayOf(options.from, '--from'));
  const to = dateOf(dayOf(options.to, '--to'));
  const jobs = await JobCatalog.of(guard);
  const periodic = jobs.periodicJob(job);
  const scope = options.scope ?? fixedScopeOf(periodic.policy);
  const change = `add a run of ${shown(job)} for each business day from ${from} to ${to} that has none`;
  if (!(await agrees([change], options))) return;
  const { added } = await orConflict(
    addRuns(jobs.context, periodic, { from, to, scope, force }, { actor, reason }),
  );
  if (json) return printJson('backfill', { job, scope, added, actor, reason });
  print(added.length === 0 ? 'nothing to add' : `added ${added.map(({ key }) => key).join(', ')}`);
}
