import type { Command } from 'commander';
import { setTimeout as pause } from 'node:timers/promises';
import type { JobGuard } from '../../guard';
import { escapeUnsafe } from '../../guard/log/logger';
import type { RunLogEntry } from '../../ledger';
import { describeRun } from '../../ledger/run';
import { ConflictError } from '../../ledger/operator/decide-act';
import { UsageError } from '../failure';
import { addGuardCommand, withGuard } from '../guard-command';
import { JobCatalog } from '../../operations/job-catalog';
import type { Options } from '../options';
import { printRun } from './history';
import { io, print, printJson, printNote, styled } from '../terminal';

type LogsOptions = Options & { readonly follow?: boolean };

const READ_EVERY_MS = 1000;

/** `cronlatch logs`: what the attempts of a run have printed, as the option `keepLog` keeps it. */
export function addLogsCommand(program: Command): void {
  addGuardCommand(program, 'logs <job> [period]', 'print the log of a run, by default of the newest one')
    .option('--scope <scope>', 'the scope of the run, if the job has scopes')
    .option('-f, --follow', 'go on until the run has ended')
    .action(withGuard(printLog));
}

async function printLog(guard: JobGuard, options: LogsOptions, job = '', period?: string): Promise<void> {
  const { follow = false, json = false } = options;
  if (follow && json) throw new UsageError('--follow cannot be combined with --json.');
  const jobs = await JobCatalog.of(guard);
  await jobs.check(job);
  const name = await jobs.runName(job, period, options.scope);
  let last: RunLogEntry | undefined;
  let times: ReturnType<typeof printRun> | undefined;
  for (let wasRunning = follow; ;) {
    // Read before the log, which is written until shortly after the run has ended.
    const run = await jobs.ledger.get(name);
    if (run === undefined) throw new ConflictError(`Job '${job}' has no run for '${name.periodKey}'.`);
    const log = await jobs.ledger.log(name, { after: last?.id });
    if (json) return printJson('logs', { run, log });
    if (last === undefined && log.length > 0) times = printRun(run, jobs.now);
    for (const entry of log) {
      if (entry.attempt !== last?.attempt || entry.generation !== last.generation)
        print(styled('dim', `attempt ${entry.attempt}, ${times?.when(entry.at)}:`));
      print(entry.lines.slice(0, -1).split('\n').map(escapeUnsafe).join('\n'));
      last = entry;
    }
    if (!wasRunning || !io.stdout.writable) break;
    wasRunning = run.state === 'running';
    await pause(READ_EVERY_MS);
  }
  if (last === undefined)
    printNote(
      `${describeRun(name)} has no log. With the option keepLog, the guard keeps what a run prints. A logger with a queue can print it in the log of another run.`,
    );
}
