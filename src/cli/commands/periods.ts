import { Option, type Command } from 'commander';
import { backfill as addRuns } from '../../ledger/operator/backfill';
import { dateOf } from '../../ledger/periods/business-date';
import { EXIT } from '../failure';
import { addChangeCommand, addGuardCommand, agrees, withGuard, withGuardToChange } from '../guard-command';
import { businessDay, KnownJobs } from '../known-jobs';
import type { OpenedGuard } from '../open-guard';
import type { ChangeOptions, GuardOptions } from '../options';
import { printJson, printTable, shown } from '../output';
import { print } from '../terminal';

interface ScopeOptions extends GuardOptions {
  readonly scope?: string;
}

interface BackfillOptions extends ChangeOptions, ScopeOptions {
  readonly from: string;
  readonly to: string;
  readonly force?: boolean;
}

/** `cronlatch missed`, `explain` and `backfill` compute the periods of a job from what it declares. */
export function addPeriodCommands(program: Command): void {
  addGuardCommand(program, 'missed <job>', 'list the periods of a job that have no run')
    .addOption(new Option('--from <date>', 'how far back, as in 2026-11-20').makeOptionMandatory())
    .option('--scope <scope>', 'the scope, if the job has scopes')
    .action(withGuard(listMissed));
  addGuardCommand(program, 'explain <job>', 'explain what a tick of a job would do')
    .option('--at <instant>', 'the scheduled time of the tick (default: now)')
    .option('--scope <scope>', 'the scope, if the job has scopes')
    .action(withGuard(explain));
  addChangeCommand(program, 'backfill <job>', 'add runs for the business days of a range that have none')
    .addOption(new Option('--from <date>', 'the first business date').makeOptionMandatory())
    .addOption(new Option('--to <date>', 'the last business date').makeOptionMandatory())
    .option('--scope <scope>', 'the scope, if the job has scopes')
    .option('--force', "also before the job's first recorded run")
    .action(withGuardToChange(backfill));
}

async function listMissed(
  opened: OpenedGuard,
  { from, scope, json }: ScopeOptions & { readonly from: string },
  job = '',
): Promise<void> {
  const jobs = await KnownJobs.of(opened);
  const since = jobs.instant(from, '--from', jobs.policy(job));
  const missed = await jobs.ledger.gaps(job, { scope, from: since });
  if (missed.length > 0) process.exitCode = EXIT.overdue;
  if (json) return printJson('missed', { job, scope: scope ?? '', from: since, missed });
  if (missed.length === 0) return print(`${shown(job)} has missed nothing since ${shown(since)}`);
  printTable(
    ['period', 'from', 'until'],
    missed.map(({ key, start, end }) => [shown(key), shown(start), shown(end)]),
  );
}

async function explain(
  opened: OpenedGuard,
  { at, scope, json }: ScopeOptions & { readonly at?: string },
  job = '',
): Promise<void> {
  const jobs = await KnownJobs.of(opened);
  const policy = jobs.policy(job);
  const scheduledAt = at === undefined ? undefined : jobs.instant(at, '--at', policy);
  const explanation = await jobs.ledger.explain(job, { at: scheduledAt, scope });
  if (json) return printJson('explain', { job, scope: scope ?? '', ...explanation });
  print(shown(explanation.text));
}

async function backfill(opened: OpenedGuard, options: BackfillOptions, job = ''): Promise<void> {
  const { scope, force, actor, reason, json } = options;
  const from = dateOf(businessDay(options.from, '--from'));
  const to = dateOf(businessDay(options.to, '--to'));
  const jobs = await KnownJobs.of(opened);
  const policy = jobs.policy(job);
  const change = `add a run of ${shown(job)} for each business day from ${from} to ${to} that has none`;
  if (!(await agrees(change, options))) return;
  const { added } = await addRuns(jobs.context, policy, { from, to, scope, force });
  if (json) return printJson('backfill', { job, scope: scope ?? '', added, actor, reason });
  print(added.length === 0 ? 'nothing to add' : `added ${added.map(({ key }) => key).join(', ')}`);
}
