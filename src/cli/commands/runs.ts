import { InvalidArgumentError, Option, type Command } from 'commander';
import type { JobGuard } from '../../guard';
import { describeDuration } from '../../guard/log/logger';
import type { Run, RunEvent, RunLedger, RunName, RunSummary } from '../../ledger';
import { briefly, stateOfRun, type StateOfRun } from '../../ledger/operator/state-of-run';
import { describeRun } from '../../ledger/run';
import { ConflictError, orConflict } from '../failure';
import { addChangeCommand, addGuardCommand, agrees, withGuard } from '../guard-command';
import { KnownJobs } from '../known-jobs';
import type { ChangeOptions, Options } from '../options';
import { commandText, print, printJson, printTable, quoted, shown, styled } from '../terminal';

type Outcome = 'completed' | 'failed' | 'pending';

/**
 * `cronlatch history` lists the runs of a job, or all that is recorded about one run. `rerun`, `resolve` and `skip` change
 * one run. Its history keeps the actor and the reason.
 */
export function addRunCommands(program: Command): void {
  addGuardCommand(program, 'history <job>', 'list the runs of a job, the newest period first')
    .option('--scope <scope>', 'only runs of this scope')
    .option('--limit <count>', 'how many runs at most', countOf, 20)
    .option('--period <key>', 'show one run with its failed attempts and its changes, as in 2026-11-20')
    .action(withGuard(showHistory));
  addRunCommand(program, 'rerun', 'run a period again that has failed, was interrupted or skipped')
    .option('--force', 'also a run that has completed or is running')
    .action(
      changeRun<{ readonly force?: boolean }>(
        'rerun',
        ({ force }) => `It runs again as soon as an instance checks for overdue runs.${force ? FORCED : ''}`,
        (ledger, name, options) => ledger.rerun(name, options),
      ),
    );
  const outcome = new Option('--as <outcome>', 'the outcome; pending: run it again');
  addRunCommand(program, 'resolve', 'record the outcome of a run whose holder has crashed')
    .addOption(outcome.choices(['completed', 'failed', 'pending'] satisfies Outcome[]).makeOptionMandatory())
    .action(
      changeRun<{ readonly as: Outcome }>(
        'resolve',
        ({ as }) => (as === 'pending' ? 'It runs again, if it has an attempt left.' : `It counts as ${as}.`),
        (ledger, name, options) => ledger.resolve(name, options),
      ),
    );
  addRunCommand(program, 'skip', 'record that a period has no run').action(
    changeRun(
      'skip',
      () => 'No instance will run it.',
      (ledger, name, options) => ledger.skip(name, options),
    ),
  );
}

const FORCED = ' A holder that is still running can no longer complete it, but is not stopped.';

function addRunCommand(program: Command, verb: string, description: string): Command {
  return addChangeCommand(program, `${verb} <job> <period>`, description).option(
    '--scope <scope>',
    'the scope of the run, if the job has scopes',
  );
}

/** @param effect what the change means, in a sentence */
function changeRun<Own extends object>(
  verb: string,
  effect: (options: Own) => string,
  change: (ledger: RunLedger, name: RunName, options: Own & ChangeOptions) => Promise<unknown>,
) {
  return withGuard(async (guard, options: Own & ChangeOptions, job = '', periodKey = ''): Promise<void> => {
    const { scope = '', actor, reason, json } = options;
    const jobs = await KnownJobs.of(guard);
    await jobs.check(job);
    jobs.checkPeriod(job, periodKey);
    const name = { job, scope, periodKey };
    const before = await jobs.ledger.get(name);
    const lines = [`${shown(describeRun(name))} ${describeState(before)}`, effect(options)];
    if (!(await agrees(lines, options))) return;
    await orConflict(change(jobs.ledger, name, options));
    const run = await jobs.ledger.get(name);
    if (json) printJson(verb, { run, before, actor, reason });
    else print(`Recorded. It ${describeState(run)}.`);
  });
}

async function showHistory(
  guard: JobGuard,
  { scope, limit, period, json }: Options & { readonly limit: number; readonly period?: string },
  job = '',
): Promise<void> {
  const jobs = await KnownJobs.of(guard);
  await jobs.check(job);
  if (period !== undefined) return await showRun(jobs, { job, scope, periodKey: period }, json);
  const runs = await jobs.ledger.list({ job, limit, ...(scope === undefined ? {} : { scope }) });
  if (json) return printJson('history', { job, runs });
  if (runs.length === 0) return print(`${shown(job)} has no runs`);
  printTable(
    runs.map((run) => ({
      period: run.periodKey,
      scope: run.scope || undefined,
      state: styledState(run),
      attempt: run.attempt,
      started: run.startedAt,
      took: durationOf(run),
      details: stateOfRun(run).sentence,
    })),
  );
}

async function showRun({ ledger }: KnownJobs, name: RunName, json = false): Promise<void> {
  const { job, periodKey } = name;
  const run = await ledger.get(name);
  if (run === undefined)
    throw new ConflictError(`Job '${job}' has no run for '${periodKey}'. cronlatch history lists its runs.`);
  const events = await ledger.history(name);
  if (json) return printJson('history', { job, run, events });
  const sentence = styled(STYLES[run.state], stateOfRun(run).sentence);
  print(`${shown(job)} ${shown(periodKey)} ${sentence}`);
  if (run.claimedBy !== undefined) print(`attempt ${run.attempt}, by ${shown(run.claimedBy)}`);
  if (run.error !== undefined) print(run.error.split('\n').map(shown).join('\n'));
  if (run.result !== undefined) print(`result: ${shown(run.result)}`);
  printTable(events.map(rowOf));
}

function rowOf({ at, kind, actor, detail }: RunEvent) {
  return { at, event: kind, by: actor, details: briefly(detail) };
}

function durationOf({ startedAt, finishedAt }: Run): string | undefined {
  if (startedAt === undefined || finishedAt === undefined) return undefined;
  return describeDuration(finishedAt.getTime() - startedAt.getTime());
}

/** The command that a remedy needs. */
export function commandOf({ job, scope, periodKey }: RunSummary, { remedy }: StateOfRun): string | undefined {
  if (remedy?.command === undefined) return undefined;
  const [verb, options = ''] = remedy.command;
  const inScope = scope === '' ? '' : ` --scope ${quoted(scope)}`;
  return commandText(verb, [job, periodKey], `${inScope}${options} --reason TEXT`);
}

function describeState(run: Run | undefined): string {
  return run === undefined ? 'has not run yet' : shown(stateOfRun(run).sentence);
}

const STYLES = {
  pending: 'yellow',
  running: 'yellow',
  completed: 'green',
  failed: 'red',
  interrupted: 'red',
  skipped: 'dim',
} as const;

export function styledState({ state }: Pick<Run, 'state'>) {
  return [STYLES[state], state] as const;
}

function countOf(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number from 1 to 99999.');
}
