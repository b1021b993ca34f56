import { InvalidArgumentError, Option, type Command } from 'commander';
import { InvalidLockUseError, noneAfter, SchemaMismatchError } from '../../core';
import { isOwnName } from '../../core/lock-name';
import { parsePositiveDuration } from '../../core/duration';
import { instanceOf } from '../../core/lease/owner';
import type { JobGuard } from '../../guard';
import { describeDuration } from '../../guard/log/time-texts';
import type { Run, RunName } from '../../ledger';
import { zoneOf } from '../../ledger/known-register';
import { decideRerun, decideResolve, decideSkip } from '../../ledger/operator/decide-act';
import { changedRun } from '../../ledger/operator/run-ledger';
import { firstLines, stateOfRun, type When } from '../../ledger/operator/state-of-run';
import { describeRun, LEASE_ENDED } from '../../ledger/run';
import { ConflictError, orConflict, UsageError } from '../failure';
import { addChangeCommand, addGuardCommand, agrees, withGuard } from '../guard-command';
import { countsOf, countText, stateCell } from '../../operations/state-texts';
import { JobCatalog } from '../../operations/job-catalog';
import { resultOf } from './run-now';
import { instantOf, type ChangeOptions, type Options } from '../options';
import { at, print, printJson, printTable, printText, shown, timesOf, type Row } from '../terminal';

type Outcome = 'completed' | 'failed' | 'pending';

/** As the transaction of a change decides it. */
const DECISIONS = { rerun: decideRerun, resolve: decideResolve, skip: decideSkip };

interface RunOptions extends ChangeOptions {
  readonly force?: boolean;
  /** Of `resolve`, which requires it. */
  readonly as: Outcome;
}

/**
 * `cronlatch history` lists the runs of a job, or all that is recorded about one run. `rerun`, `resolve` and `skip` change
 * one run. Its history keeps the actor and the reason.
 */
export function addRunCommands(program: Command): void {
  addGuardCommand(program, 'history [job] [period]', 'list the runs of a job or of all jobs, or show one run')
    .option('--scope <scope>', 'only runs of this scope')
    .option('--since <time>', 'only runs since an instant, or for a duration such as 12h', sinceOf)
    .option('--limit <count>', 'how many of the newest periods (default: 20, with --since 1000)', countOf)
    .addOption(new Option('--period <key>').hideHelp())
    .action(withGuard(showHistory));
  addRunCommand(program, 'rerun [period]', 'run a period again that has failed, was interrupted or skipped')
    .option('--force', 'also a run that has completed or is running')
    .action(
      changeRun(
        'rerun',
        ({ force }) => `It runs again as soon as an instance checks for overdue runs.${force ? FORCED : ''}`,
      ),
    );
  const outcome = new Option('--as <outcome>', 'the outcome; pending: run it again');
  addRunCommand(program, 'resolve <period>', 'record the outcome of a run that was interrupted')
    .addOption(outcome.choices(['completed', 'failed', 'pending'] satisfies Outcome[]).makeOptionMandatory())
    .action(
      changeRun('resolve', ({ as }) =>
        as === 'pending' ? `It runs again, if it has an attempt left. ${MAY_RUN}` : `It counts as ${as}.`,
      ),
    );
  addRunCommand(program, 'skip <period>', 'record that a period has no run').action(
    changeRun('skip', () => 'No instance will run it.'),
  );
}

const MAY_RUN =
  'Its last holder may still be running it, and would not be stopped: first make sure that it has ended.';
const FORCED = ' A holder that is still running can no longer complete it, but is not stopped.';

/** The newest run is the default of a period that is optional. */
function addRunCommand(program: Command, usage: string, description: string): Command {
  const [verb = '', period = ''] = usage.split(' ');
  return addChangeCommand(program, `${verb} <job> ${period}`, description).option(
    '--scope <scope>',
    'the scope of the run, if the job has scopes',
  );
}

function changeRun(verb: keyof typeof DECISIONS, effect: (options: RunOptions) => string) {
  return withGuard(async (guard, options: RunOptions, job = '', period?: string): Promise<void> => {
    const { actor, reason, json } = options;
    const jobs = await JobCatalog.of(guard);
    await jobs.check(job);
    const name = await jobs.runName(job, period, options.scope);
    const checked = (run: Run | undefined): Run | undefined => {
      if (run !== undefined || verb !== 'skip')
        changedRun(DECISIONS[verb](run && { run, now: jobs.now }, options).value, verb, name);
      return run;
    };
    const before = await orConflict(jobs.ledger.get(name).then(checked));
    const lines = [`${shown(describeRun(name))} ${describeState(before)}`, effect(options)];
    if (!(await agrees(lines, options))) return;
    await orConflict<unknown>(jobs.ledger[verb](name, options));
    const run = await jobs.ledger.get(name);
    if (json) printJson(verb, { run, before, actor, reason });
    else printText(`Recorded. It ${describeState(run)}.`);
  });
}

type HistoryOptions = Options & { readonly limit?: number; readonly period?: string; readonly since?: Date };

async function showHistory(
  guard: JobGuard,
  options: HistoryOptions,
  job?: string,
  period?: string,
): Promise<void> {
  const { scope, since, limit = since ? 1000 : 20, json } = options;
  if (options.period !== undefined)
    throw new UsageError('--period is gone. Write the period behind the job: cronlatch history JOB PERIOD');
  const jobs = await JobCatalog.of(guard);
  if (job !== undefined) await jobs.check(job);
  if (job !== undefined && period !== undefined)
    return await showRun(jobs, await jobs.runName(job, period, scope), json);
  const query = { ...(job === undefined ? {} : { job }), ...(scope === undefined ? {} : { scope }) };
  const found = [...(await jobs.ledger.list({ limit, ...query }))];
  if (job === undefined) found.sort((one, other) => begunMs(other) - begunMs(one));
  const runs = found.filter((run) => begunMs(run) >= (since?.getTime() ?? 0));
  const request = job === undefined ? undefined : await lastRequest(jobs, job, scope);
  if (json) return printJson('history', { job, since, runs, request });
  const none = job === undefined ? 'there are no runs' : `${shown(job)} has no runs`;
  if (runs.length === 0) return print(since === undefined ? none : `${none} since ${shown(since)}`);
  const shownRuns = job === undefined ? runs.filter((run) => !isOwnName(run.job)) : runs;
  const zones = shownRuns.map((run) => run.timeZone ?? zoneOf(jobs.get(run.job)?.declared));
  const times = timesOf(zones, jobs.now);
  const states = runs.map(({ state }) => state);
  const counts = countsOf(states, ['failed', 'interrupted', 'running']);
  const total = `${countText(runs.length, 'run')}${since ? ` since ${times.at(since)}` : ''}`;
  printText(`${[total, ...counts].join(', ')} · ${times.head}`, 'bold');
  const rows = runs.map((run) => ({
    ...rowOf(run, times.at),
    ...(job === undefined ? {} : { job: undefined }),
  }));
  printTable(rows, { drop: ['attempt', 'due', 'scope', 'on', 'took', 'details'], rest: 'details' });
  if (request === undefined) return;
  const { actor, createdAt, reason } = request;
  printText(`Last request: by ${actor} ${times.when(createdAt)}: ${reason}. ${resultOf(request)}`);
}

/** The tables of an older version hold no requests. */
async function lastRequest({ ledger }: JobCatalog, job: string, scope: string | undefined) {
  return await ledger.lastRequest(job, { scope }).catch(noneAfter(SchemaMismatchError, InvalidLockUseError));
}

function begunMs({ startedAt, createdAt }: Run): number {
  return (startedAt ?? createdAt).getTime();
}

function rowOf(run: Run, shortly: (instant: Date | undefined) => string | undefined): Row {
  return {
    started: shortly(run.startedAt),
    took: durationOf(run),
    job: run.job,
    period: run.periodKey,
    scope: run.scope || undefined,
    state: stateCell(run.state),
    attempt: run.attempt,
    on: run.claimedBy && instanceOf(run.claimedBy),
    due: shortly(run.nextAttemptAt),
    details: firstLines(run.error) ?? run.reason,
  };
}

async function showRun(jobs: JobCatalog, name: RunName, json = false): Promise<void> {
  const { ledger } = jobs;
  const { job, periodKey } = name;
  const run = await ledger.get(name);
  if (run === undefined)
    throw new ConflictError(`Job '${job}' has no run for '${periodKey}'. cronlatch history lists its runs.`);
  const events = await ledger.history(name);
  if (json) return printJson('history', { job, run, events });
  const times = printRun(run, jobs.now);
  if (run.claimedBy !== undefined) print(`attempt ${run.attempt}, by ${shown(run.claimedBy)}`);
  if (run.error !== undefined) print(run.error.split('\n').map(shown).join('\n'));
  if (run.result !== undefined) print(`result: ${shown(run.result)}`);
  if (events.length === 0) return;
  const rows = events.map((event) => ({
    at: times.at(event.at),
    event: event.kind,
    // A holder, or an operator with any name.
    by: /\/[\da-f]{8}-/.test(event.actor) ? instanceOf(event.actor) : event.actor,
    details: firstLines(event.detail),
  }));
  printTable(rows, { wrap: 'details' });
}

/** The head and the state of one run. @returns its times */
export function printRun(run: Run, now: Date) {
  const { job, scope, periodKey, timeZone, state } = run;
  const times = timesOf([timeZone], now);
  printText(`${job}${scope && ` (${scope})`} ${periodKey} · ${times.head}`, 'bold');
  printText(`It ${stateOfRun(run, times).sentence}.`, stateCell(state)[0]);
  return times;
}

/** It is unknown when an attempt ended whose lease did. */
function durationOf({ startedAt, finishedAt, reason }: Run): string | undefined {
  if (startedAt === undefined || finishedAt === undefined || reason === LEASE_ENDED) return undefined;
  return describeDuration(finishedAt.getTime() - startedAt.getTime());
}

function describeState(run: Run | undefined): string {
  const when: When = (instant) => `at ${shown(at(instant, run?.timeZone))}`;
  return run === undefined ? 'has not run yet' : shown(stateOfRun(run, { when }).sentence);
}

function countOf(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number from 1 to 99999.');
}

function sinceOf(text: string): Date {
  const isDuration = /^[\d.]+[dhms]/.test(text);
  return isDuration
    ? new Date(Date.now() - parsePositiveDuration(text, '--since'))
    : instantOf(text, '--since');
}
