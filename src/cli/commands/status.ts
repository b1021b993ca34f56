import { Option, type Command } from 'commander';
import { setTimeout as pause } from 'node:timers/promises';
import type { LockState } from '../../core';
import { parseDuration } from '../../core/duration';
import { instanceOf } from '../../core/lease/owner';
import type { JobGuard } from '../../guard';
import { databaseOfGuard } from '../../integrations/sql/create-guard';
import { commandText } from '../../ledger/operator/remedy';
import { EXIT, linesOf, UsageError } from '../failure';
import { addGuardCommand, withGuard } from '../guard-command';
import type { Options } from '../options';
import {
  at,
  io,
  print,
  printAdvice,
  printed,
  printJson,
  printTable,
  printText,
  whenInWhole,
  withCommands,
  type Row,
} from '../terminal';
import { relative } from '../../guard/log/time-texts';
import {
  operations,
  type JobOverview,
  type JobRemark,
  type Overview,
  type OverviewOptions,
} from '../../operations';
import { answerOf, progressOf, stateCell, stateOfLock } from '../../operations/state-texts';

interface StatusOptions extends Options {
  readonly check?: boolean;
  readonly tolerance: string;
  readonly watch?: boolean;
}

/** `cronlatch status`: the answer, each problem with its command, and one line for each job. It shows `operations(guard).overview()`. */
export function addStatusCommand(program: Command): void {
  addGuardCommand(program, 'status', 'show what runs, what is held, and the problems of each job')
    .option('--check', 'print only problems and pauses, and end with 5 if there are problems')
    .addOption(new Option('--watch', 'show it again every two seconds').conflicts(['check', 'json']))
    .option('--tolerance <duration>', 'how late a tick may be before its job is late', '5m')
    .action(withGuard((guard, options: StatusOptions) => (options.watch ? watch : show)(guard, options)));
}

async function show(guard: JobGuard, { check, tolerance, json }: StatusOptions): Promise<void> {
  const lateAfter = parseDuration(tolerance, '--tolerance');
  const relatively: OverviewOptions['when'] = (instant, { now }) => relative(instant, now) ?? '';
  const overview = await operations(guard).overview({
    lateAfter,
    when: check || json ? whenInWhole : relatively,
  });
  const problems = [...overview.problems, ...overview.jobs.flatMap((job) => job.problems)];
  if (check && problems.length > 0) io.exitCode = EXIT.problems;
  if (json) {
    const jobs = overview.jobs.map((job) => ({
      ...job,
      problems: withCommands(job.problems),
      notes: withCommands(job.notes),
    }));
    return printJson('status', { ...overview, problems: withCommands(overview.problems), jobs });
  }
  const notes = overview.jobs.flatMap((job) => job.notes);
  if (check) return printChecked(problems, notes);
  for (const line of headOf(guard, overview)) printText(line, 'bold');
  if (problems.length + notes.length > 0) print('');
  for (const { kind, text, remedy } of [...problems, ...notes]) {
    const [style, [symbol]] = stateCell(kind);
    printAdvice({ text: `${symbol} ${text}`, remedy }, style);
  }
  print('');
  const { now, jobs, locks, hasRegister } = overview;
  const others = (locks ?? []).slice(0, MOST_OTHERS);
  printTable([...jobs.map((job) => rowOf(job, now)), ...others.map((lock) => rowOfLock(lock, now))], {
    drop: ['started'],
    wrap: 'state',
  });
  if (locks === undefined && overview.problems.length === 0)
    printText('The lock provider of this guard cannot list its locks, so only those of jobs are shown.');
  if (locks && locks.length > MOST_OTHERS)
    printText(`${locks.length - MOST_OTHERS} more locks: cronlatch locks --held`);
  if (!hasRegister)
    printText('Without a register of jobs, only jobs with runs are shown. cronlatch init creates it.');
}

const WATCH_EVERY_MS = 2000;

/** Ends with Ctrl-C. A failure after the first screen is a line above the last one. */
async function watch(guard: JobGuard, options: StatusOptions): Promise<void> {
  if (!io.stdout.isTTY) throw new UsageError('--watch draws on a terminal, and this is none.');
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal);
  let screen = await printed(() => show(guard, options));
  for (let trouble = ''; !stop.signal.aborted;) {
    draw(`${trouble}${screen}`);
    await pause(WATCH_EVERY_MS, undefined, { signal: stop.signal }).catch(() => {}); // Aborted.
    try {
      screen = await printed(() => show(guard, options));
      trouble = '';
    } catch (error) {
      const text = `✗ ${linesOf(error).join(' ')} This is what it was before:`;
      trouble = await printed(() => printText(text, 'red'));
    }
  }
  process.off('SIGINT', onSignal);
}

/** Over the last screen, so that nothing flickers. */
function draw(text: string): void {
  const lines = text.split('\n').slice(0, (io.stdout.rows || Infinity) - 1);
  io.stdout.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join('\n')}\n\u001b[J`);
}

/** So many locks that belong to no known job are shown. */
const MOST_OTHERS = 20;

/** A line each, because monitors keep lines. */
function printChecked(problems: readonly JobRemark[], notes: readonly JobRemark[]): void {
  const pauses = notes.filter(({ kind }) => kind === 'paused');
  for (const { kind, text, remedy } of [...problems, ...pauses])
    printText(remedy ? `${text} ${commandText(remedy)}` : text, stateCell(kind)[0]);
  if (problems.length === 0) print('no problems');
}

/** The place and the time, then the answer. */
function headOf(guard: JobGuard, { now, jobs }: Overview): string[] {
  const { address, name } = databaseOfGuard(guard)?.database ?? {};
  const place = address && [address, ...(name === undefined ? [] : [`database ${name}`])].join(', ');
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return [[...(place === undefined ? [] : [place]), at(now, timeZone)].join(' · '), answerOf(jobs)];
}

function rowOf({ job, state, lastRun, lock, running, nextScheduledAt }: JobOverview, now: Date): Row {
  const [style, symbol] = stateCell(state);
  const instances = [...new Set(running.map(({ claimedBy = '' }) => instanceOf(claimedBy)))].join(', ');
  const isWithHolder = ['running', 'kept', 'paused'].includes(state);
  const holder = instances ? ` on ${instances}` : lock && isWithHolder ? holderOf(lock, now) : '';
  return {
    job,
    state: [style, `${symbol}${state === 'running' ? progressOf(running) : ''}${holder}`],
    'last run': lastRun?.periodKey,
    started: relative(lastRun?.startedAt ?? lock?.lockedAt, now),
    'next tick': relative(nextScheduledAt, now),
  };
}

function rowOfLock(lock: LockState, now: Date): Row {
  const [state, holder = ''] = stateOfLock(lock);
  const [style, symbol] = stateCell(state);
  const by = state === 'paused' ? ` by ${holder}` : '';
  return {
    job: lock.name,
    state: [style, `${symbol}${by}${holderOf(lock, now)}`],
    started: relative(lock.lockedAt, now),
  };
}

/** Of a lock that nothing renews, with its end. */
function holderOf(lock: LockState, now: Date): string {
  const [state, holder = ''] = stateOfLock(lock);
  if (state === 'held') return ` on ${holder}`;
  return `${state === 'kept' ? ` on ${holder}` : ''}, ends ${relative(lock.lockUntil, now)}`;
}
