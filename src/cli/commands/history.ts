import { InvalidArgumentError, type Command } from 'commander';
import { describeDuration } from '../../guard/log/log-message';
import type { Run, RunEvent } from '../../ledger';
import { ConflictError } from '../failure';
import { addGuardCommand, withGuard } from '../guard-command';
import { KnownJobs } from '../known-jobs';
import type { OpenedGuard } from '../open-guard';
import type { GuardOptions } from '../options';
import { printJson, printTable, shown } from '../output';
import { briefly, detailsOf, stateOf } from '../run-text';
import { print } from '../terminal';

interface HistoryOptions extends GuardOptions {
  readonly scope?: string;
  readonly limit: number;
  readonly period?: string;
}

/** `cronlatch history`: the runs of a job, or all that is recorded about one run. */
export function addHistoryCommand(program: Command): void {
  addGuardCommand(program, 'history <job>', 'list the runs of a job, the newest period first')
    .option('--scope <scope>', 'only runs of this scope')
    .option('--limit <count>', 'how many runs at most', countOf, 20)
    .option('--period <key>', 'show one run with its failed attempts and its changes, as in 2026-11-20')
    .action(withGuard(showHistory));
}

async function showHistory(opened: OpenedGuard, options: HistoryOptions, job = ''): Promise<void> {
  const jobs = await KnownJobs.of(opened);
  await jobs.check(job);
  if (options.period !== undefined) return await showRun(jobs, job, options.period, options);
  const { scope, limit, json } = options;
  const runs = await jobs.ledger.list({ job, limit, ...(scope === undefined ? {} : { scope }) });
  if (json) return printJson('history', { job, runs });
  if (runs.length === 0) return print(`${shown(job)} has no runs`);
  printTable(
    ['period', 'scope', 'state', 'attempt', 'started', 'took', 'details'],
    runs.map((run) => [
      shown(run.periodKey),
      shown(run.scope || undefined),
      stateOf(run),
      shown(run.attempt),
      shown(run.startedAt),
      shown(durationOf(run)),
      detailsOf(run),
    ]),
  );
}

async function showRun(
  { ledger }: KnownJobs,
  job: string,
  periodKey: string,
  { scope = '', json }: HistoryOptions,
): Promise<void> {
  const run = await ledger.get({ job, scope, periodKey });
  if (run === undefined)
    throw new ConflictError(`Job '${job}' has no run for '${periodKey}'. cronlatch history lists its runs.`);
  const events = await ledger.history({ job, scope, periodKey });
  if (json) return printJson('history', { job, run, events });
  print(
    [
      `${shown(job)} ${shown(periodKey)}: ${stateOf(run)}, attempt ${run.attempt}, ${detailsOf(run)}`,
      ...(run.claimedBy === undefined ? [] : [`last attempt by ${shown(run.claimedBy)}`]),
      ...(run.error === undefined ? [] : run.error.split('\n').map(shown)),
      ...(run.result === undefined ? [] : [`result: ${shown(run.result)}`]),
    ].join('\n'),
  );
  if (events.length > 0) printTable(['at', 'event', 'by', 'details'], events.map(eventRow));
}

function eventRow({ at, kind, actor, detail }: RunEvent): string[] {
  return [shown(at), kind, shown(actor), shown(briefly(detail))];
}

function durationOf({ startedAt, finishedAt }: Run): string | undefined {
  if (startedAt === undefined || finishedAt === undefined) return undefined;
  return describeDuration(finishedAt.getTime() - startedAt.getTime());
}

function countOf(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number from 1 to 99999.');
}
