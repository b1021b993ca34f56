import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { SkipReason } from '../../core';
import { parsePositiveDuration } from '../../core/duration';
import { instanceOf } from '../../core/lease/owner';
import type { JobGuard } from '../../guard';
import type { StoredRequest } from '../../ledger';
import { firstLines } from '../../ledger/operator/state-of-run';
import { checkRequest } from '../../ledger/operator/request-run';
import { EXIT, EXIT_AFTER } from '../exit-codes';
import { orConflict } from '../failure';
import { addChangeCommand, agrees, withGuard } from '../guard-command';
import { JobCatalog } from '../../operations/job-catalog';
import type { ChangeOptions } from '../options';
import { io, printJson, printText, shown } from '../terminal';

interface RunNowOptions extends ChangeOptions {
  readonly period?: string;
  readonly within?: string;
  readonly wait?: boolean;
}

/** `cronlatch run` asks an instance to run a job now. */
export function addRunNowCommand(program: Command): void {
  addChangeCommand(program, 'run <job>', 'run a job now, on one of its instances')
    .option('--period <key>', 'the period, as in 2026-11-20 (default: the current one)')
    .option('--scope <scope>', 'the scope of the run, if the job has scopes')
    .option('--within <duration>', 'how long it waits for an instance that can start it', '1h')
    .option('--wait', 'wait for the end of the run, and exit as exec does')
    .action(withGuard(runNow));
}

async function runNow(guard: JobGuard, options: RunNowOptions, job = ''): Promise<void> {
  const { period, scope, within = '1h', wait, json, actor, reason } = options;
  parsePositiveDuration(within, '--within');
  const jobs = await JobCatalog.of(guard);
  await jobs.check(job);
  const named = period && (await jobs.runName(job, period, scope)).periodKey;
  const asked = { actor, reason, periodKey: named, scope, within };
  const { periodKey } = await orConflict(checkRequest(jobs.context, job, asked));
  const which = periodKey === undefined ? '' : ` for ${periodKey}`;
  const when = `An instance starts job ${shown(job)}${which} at its next check for overdue runs, if the lock is free.`;
  if (!(await agrees([when], options))) return;
  let request = await orConflict(jobs.ledger.requestRun(job, asked));
  if (!json) printText(`Requested. The request expires in ${within}.`);
  while (wait && request.endedAt === undefined && Date.now() < expiryOf(request)) {
    await delay(1000);
    request = (await jobs.ledger.lastRequest(job, request)) ?? request;
  }
  if (json) printJson('run', { request });
  else if (wait) printText(resultOf(request));
  if (wait) io.exitCode = exitCodeOf(request);
}

/** On this host's clock, with time for the last check. */
function expiryOf({ state, expiresAt }: StoredRequest): number {
  return state === 'taken' ? Infinity : expiresAt.getTime() + 5000;
}

export function resultOf({ job, state, takenBy, outcome }: StoredRequest): string {
  const on = takenBy === undefined ? '' : ` on ${instanceOf(takenBy)}`;
  const why = outcome === undefined ? '' : `: ${shown(firstLines(outcome))}`;
  return state === 'open'
    ? `The request has expired, and job ${shown(job)} has not started${why}.`
    : `Job ${shown(job)}: ${state}${on}${why}.`;
}

function exitCodeOf({ state, outcome }: StoredRequest): number {
  if (state === 'completed') return EXIT.done;
  if (state === 'open') return EXIT.stillDue;
  return state === 'skipped' ? (EXIT_AFTER[outcome as SkipReason] ?? EXIT.stillDue) : 1;
}
