import { Option, type Command } from 'commander';
import type { Run, RunName } from '../../ledger';
import { describeRun } from '../../ledger/run';
import { addChangeCommand, agrees, withGuardToChange } from '../guard-command';
import { KnownJobs } from '../known-jobs';
import type { OpenedGuard } from '../open-guard';
import type { ChangeOptions } from '../options';
import { printJson, shown } from '../output';
import { detailsOf, stateOf } from '../run-text';
import { print } from '../terminal';

interface RunOptions extends ChangeOptions {
  readonly scope?: string;
}

type Outcome = 'completed' | 'failed' | 'pending';

/** `cronlatch rerun`, `resolve` and `skip` change one run. Its history keeps the actor and the reason. */
export function addRunCommands(program: Command): void {
  addRunCommand(program, 'rerun', 'run a period again that has failed, was interrupted or skipped')
    .option('--force', 'also a run that has completed or is running')
    .action(
      changeRun<{ readonly force?: boolean }>(
        'rerun',
        ({ force }) => `It runs again as soon as an instance checks for overdue runs.${force ? FORCED : ''}`,
        (ledger, name, options) => ledger.rerun(name, options),
      ),
    );
  addRunCommand(program, 'resolve', 'record the outcome of a run whose holder has crashed')
    .addOption(
      new Option('--as <outcome>', 'the outcome; pending: run it again')
        .choices(['completed', 'failed', 'pending'] satisfies Outcome[])
        .makeOptionMandatory(),
    )
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
  effect: (options: Own & RunOptions) => string,
  change: (ledger: KnownJobs['ledger'], name: RunName, options: Own & RunOptions) => Promise<unknown>,
) {
  return withGuardToChange(
    async (opened: OpenedGuard, options: Own & RunOptions, ...names: string[]): Promise<void> => {
      const [job = '', periodKey = ''] = names;
      const { scope = '', actor, reason, json } = options;
      const jobs = await KnownJobs.of(opened);
      await jobs.check(job);
      jobs.checkPeriod(job, periodKey);
      const name = { job, scope, periodKey };
      const before = await jobs.ledger.get(name);
      const lines = [`${shown(describeRun(name))}: ${describeState(before)}`, effect(options)];
      if (!(await agrees(lines.join('\n'), options))) return;
      await change(jobs.ledger, name, options);
      const run = await jobs.ledger.get(name);
      if (json) printJson(verb, { run, before, actor, reason });
      else print(`now ${describeState(run)}`);
    },
  );
}

function describeState(run: Run | undefined): string {
  return run === undefined ? 'no run yet' : `${stateOf(run)}, attempt ${run.attempt}, ${detailsOf(run)}`;
}
