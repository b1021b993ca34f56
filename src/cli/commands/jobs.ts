import type { Command } from 'commander';
import type { DeclaredJob, RegisteredJob } from '../../ledger';
import { differencesOf, scheduleText } from '../../ledger/job-register';
import { addGuardCommand, withGuard } from '../guard-command';
import { KnownJobs } from '../known-jobs';
import type { OpenedGuard } from '../open-guard';
import type { GuardOptions } from '../options';
import { printJson, printTable, shown, styled } from '../output';
import { print } from '../terminal';

/** `cronlatch jobs`: what the instances declare about their jobs. */
export function addJobsCommand(program: Command): void {
  addGuardCommand(
    program,
    'jobs',
    'list the registered jobs, and what deployments declare differently',
  ).action(withGuard(listJobs));
}

async function listJobs(opened: OpenedGuard, { json }: GuardOptions): Promise<void> {
  const { jobs } = (await KnownJobs.of(opened)).requireRegister();
  if (json) return printJson('jobs', { jobs });
  if (jobs.length === 0) return print('no job is registered');
  printTable(
    ['job', 'runs', 'schedule', 'next', 'registered', 'by'],
    jobs.map(({ job, declared, nextScheduledAt, registeredAt, registeredBy }) => [
      shown(job),
      shown(periodText(declared)),
      shown(scheduleText(declared) || undefined),
      shown(nextScheduledAt),
      shown(registeredAt),
      shown(registeredBy),
    ]),
  );
  const changes = jobs.flatMap(changesOf);
  if (changes.length > 0) print(`\n${changes.join('\n')}`);
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

/** A line for each option that an earlier registration had otherwise. */
function changesOf({ job, declared, registeredBy, previous }: RegisteredJob): string[] {
  if (previous === undefined) return [];
  return differencesOf(previous.declared, declared).map(({ option, before = 'not set', now = 'not set' }) =>
    styled(
      'yellow',
      shown(
        `${job}: ${option} is ${now} on ${registeredBy}, and was ${before} on ${previous.registeredBy} at ${shown(previous.registeredAt)}`,
      ),
    ),
  );
}
