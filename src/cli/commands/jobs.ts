import type { Command } from 'commander';
import type { JobGuard } from '../../guard';
import { unreadableRemark } from '../../operations/remarks';
import { countText } from '../../operations/state-texts';
import type { DeclaredJob } from '../../ledger';
import { nextTimeOf } from '../../ledger/expected';
import { describeSchedules, zoneOf } from '../../ledger/job-register';
import { UsageError } from '../failure';
import { addGuardCommand, withGuard } from '../guard-command';
import { JobCatalog } from '../../operations/job-catalog';
import type { Options } from '../options';
import { print, printAdvice, printJson, printTable, printText, timesOf } from '../terminal';

export function addJobsCommand(program: Command): void {
  const jobs = 'list the registered jobs, and what deployments declare differently';
  addGuardCommand(program, 'jobs', jobs).action(withGuard(listJobs));
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

const WITHOUT_PERIOD: Partial<Record<DeclaredJob['kind'], string>> = {
  lock: 'at every tick',
  tick: 'once per tick',
  custom: 'once per key',
};

function periodText({ kind, timeZone, target }: DeclaredJob): string {
  const previous = target === 'previous' ? ', for the previous one' : '';
  return WITHOUT_PERIOD[kind] ?? `once per ${kind}, ${timeZone}${previous}`;
}
