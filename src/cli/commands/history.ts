import { InvalidArgumentError, Option, type Command } from 'commander';
import { isOwnName } from '../../core/lock-name';
import { parsePositiveDuration } from '../../core/duration';
import { instanceOf } from '../../core/lease/owner';
import type { JobGuard } from '../../guard';
import { describeDuration } from '../../guard/log/time-texts';
import type { Run, RunName } from '../../ledger';
import { zoneOf } from '../../ledger/job-register';
import { fixedScopeOf } from '../../ledger/policy/job-policy';
import { firstLines, stateOfRun } from '../../ledger/operator/state-of-run';
import { LEASE_ENDED } from '../../ledger/run';
import { ConflictError } from '../../ledger/operator/decide-act';
import { EXIT, UsageError } from '../failure';
import { addGuardCommand, withGuard } from '../guard-command';
import {
  actText,
  countsOf,
  countText,
  eventsBeside,
  stateCell,
  stateOfAct,
  subjectOfAct,
} from '../../operations/state-texts';
import { JobCatalog } from '../../operations/job-catalog';
import { instantOf, startOf, type Options } from '../options';
import { io, print, printJson, printTable, printText, shown, timesOf, type Row } from '../terminal';

export function addHistoryCommand(program: Command): void {
  addGuardCommand(program, 'history [job] [period]', 'list the runs of a job or of all jobs, or show one run')
    .option('--scope <scope>', 'only runs of this scope')
    .option('--since <time>', 'only runs since an instant, or for a duration such as 12h', sinceOf)
    .option('--limit <count>', 'how many of the newest periods (default: 20, with --since 1000)', countOf)
    .option('--acts', 'only what operators did, and their requests that wait')
    .option('--missed', 'only the periods of the job that have no run')
    .option('--from <date>', 'with --missed: how far back (default: to the first recorded run)')
    .addOption(new Option('--period <key>').hideHelp())
    .action(withGuard(showHistory));
}

interface HistoryOptions extends Options {
  readonly limit?: number;
  readonly period?: string;
  readonly since?: Date;
  readonly acts?: boolean;
  readonly missed?: boolean;
  readonly from?: string;
}

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
  if (options.missed) return await showMissed(jobs, options, job);
  if (job !== undefined) await jobs.check(job);
  if (options.acts) return await showActs(jobs, options, job);
  if (job !== undefined && period !== undefined)
    return await showRun(jobs, await jobs.runName(job, period, scope), json);
  const query = { ...(job === undefined ? {} : { job }), ...(scope === undefined ? {} : { scope }) };
  const found = [...(await jobs.ledger.list({ limit, ...query }))];
  if (job === undefined) found.sort((one, other) => begunMs(other) - begunMs(one));
  const runs = found.filter((run) => begunMs(run) >= (since?.getTime() ?? 0));
  // Those beside the runs that are shown: a request comes before its run.
  const oldest = since ?? (found.length < limit ? undefined : new Date(Math.min(...runs.map(begunMs))));
  const acts = (job === undefined ? [] : await jobs.acts({ ...query, since: oldest, limit })) ?? [];
  if (json) return printJson('history', { job, since, runs, acts });
  const none = job === undefined ? 'there are no runs' : `${shown(job)} has no runs`;
  if (runs.length + acts.length === 0)
    return print(since === undefined ? none : `${none} since ${shown(since)}`);
  const shownRuns = job === undefined ? runs.filter((run) => !isOwnName(run.job)) : runs;
  const zones = shownRuns.map((run) => run.timeZone ?? zoneOf(jobs.get(run.job)?.declared));
  const times = timesOf(zones, jobs.now);
  const states = runs.map(({ state }) => state);
  const counts = countsOf(states, ['failed', 'interrupted', 'running']);
  const total = `${countText(runs.length, 'run')}${since ? ` since ${times.at(since)}` : ''}`;
  printText(`${[total, ...counts].join(', ')} · ${times.head}`, 'bold');
  const rows = runs.map((run): [number, Row] => [
    begunMs(run),
    { ...rowOf(run, times.at), ...(job === undefined ? {} : { job: undefined }) },
  ]);
  for (const act of acts) {
    const { at, periodKey: period, actor: on, reason: details } = act;
    const state = ['dim', `· ${actText(act, jobs.now)}`] as const;
    rows.push([at.getTime(), { started: times.at(at), period, state, on, details }]);
  }
  if (acts.length > 0) rows.sort(([one], [other]) => other - one);
  printTable(
    rows.map(([, row]) => row),
    { drop: ['attempt', 'due', 'scope', 'on', 'took', 'details'], rest: 'details' },
  );
}

async function showActs(
  jobs: JobCatalog,
  { since, limit = since ? 1000 : 20, scope, json }: HistoryOptions,
  job: string | undefined,
): Promise<void> {
  const acts = await jobs.acts({ job, scope, since, limit });
  if (acts === undefined)
    throw new UsageError('This database has no table of acts. Create it with cronlatch init.');
  if (json) return printJson('history', { job, since, acts });
  if (acts.length === 0) return print('no act is recorded');
  const times = timesOf([], jobs.now);
  printText(`${countText(acts.length, 'act')} · ${times.head}`, 'bold');
  const rows = acts.map((act) => ({
    at: times.at(act.at),
    act: act.verb,
    of: subjectOfAct(act),
    by: act.actor,
    state: stateOfAct(act, jobs.now),
    reason: act.reason,
  }));
  printTable(rows, { rest: 'reason' });
}

async function showMissed(
  jobs: JobCatalog,
  { from, scope: given, json }: HistoryOptions,
  job: string | undefined,
): Promise<void> {
  if (job === undefined) throw new UsageError('--missed needs a job: cronlatch history JOB --missed');
  const policy = jobs.policy(job);
  const scope = given ?? fixedScopeOf(policy);
  const since = from === undefined ? undefined : startOf(from, '--from', policy.period);
  const missed = await jobs.ledger.gaps(job, { scope, from: since });
  if (missed.length > 0) io.exitCode = EXIT.problems;
  if (json) return printJson('history', { job, scope, from: since, missed });
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
  const acts = (await jobs.acts({ ...name, limit: 100 })) ?? [];
  if (json) return printJson('history', { job, run, events, acts });
  const times = printRun(run, jobs.now);
  if (run.claimedBy !== undefined) print(`attempt ${run.attempt}, by ${shown(run.claimedBy)}`);
  if (run.error !== undefined) print(run.error.split('\n').map(shown).join('\n'));
  if (run.result !== undefined) print(`result: ${shown(run.result)}`);
  const entries = [...events, ...eventsBeside(events, acts, jobs.now)];
  if (entries.length === 0) return;
  entries.sort((one, other) => one.at.getTime() - other.at.getTime());
  const rows = entries.map((event) => ({
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
