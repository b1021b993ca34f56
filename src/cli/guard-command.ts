import { Option, type Command } from 'commander';
import { hostname, userInfo } from 'node:os';
import type { JobGuard } from '../guard';
import { callsOf, isJobGuard } from '../guard/calls/calls';
import { createGuard, type CreateJobGuardOptions } from '../integrations/sql/create-guard';
import { checkAct } from '../ledger/operator/decide-act';
import { openDatabase } from './database-of';
import { exportedValue } from './exported-value';
import { UsageError } from './failure';
import { addGuardSource, type ChangeOptions, type Options } from './options';
import { confirm, isInteractive, printText, useUtc } from './terminal';

/** A command that shows something. Its options lead to a guard. */
export function addGuardCommand(program: Command, usage: string, description: string): Command {
  return addGuardSource(program.command(usage).description(description))
    .option('--json', 'print JSON')
    .option('--utc', 'show instants in UTC, and not in the time zone of a job')
    .hook('preAction', (command) => useUtc(command.opts<Options>().utc));
}

/** A command that changes something, for a reason that is recorded. */
export function addChangeCommand(program: Command, usage: string, description: string): Command {
  return addGuardCommand(program, usage, description)
    .requiredOption('--reason <text>', 'why, for the record')
    .addOption(actorOption())
    .option('-y, --yes', 'do not ask before the change')
    .hook('preAction', (command) => checkChange(command.opts<ChangeOptions>()));
}

/** The action of a command. Opens the guard with these options, and closes it afterwards. */
export function withGuard<O extends Options>(
  body: (guard: JobGuard, options: O, ...args: string[]) => Promise<void>,
  own: (options: O) => CreateJobGuardOptions = () => ({}),
) {
  return async (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const options = command.opts<O>();
    const guard = await openGuard(options, own(options));
    try {
      await body(guard, options, ...command.args);
    } finally {
      await guard.close();
    }
  };
}

/**
 * The application's guard, or a guard of the command on the same tables. The latter logs nothing and knows no jobs.
 * Neither starts a job.
 *
 * @throws UsageError if the options lead to no guard and no database
 * @throws CronlatchError naming the package to install if the driver is missing
 */
export async function openGuard(options: Options, own: CreateJobGuardOptions = {}): Promise<JobGuard> {
  const { app, lockTable, runTable, jobTable, schema } = options;
  if (app !== undefined) {
    const guard = await exportedValue(app, { option: '--app', kind: 'job guard', is: isGuard });
    callsOf(guard).parts.registry.isEnabled = () => false;
    return guard;
  }
  const database = await openDatabase(options, { creates: false });
  const named = { lockTable, runTable, jobTable, schema };
  return await createGuard(database, { ...named, lazy: true, logger: false, pollInterval: false, ...own });
}

const isGuard = (value: unknown): value is JobGuard => isJobGuard(value);

/** @throws UsageError without a terminal to ask on, and without a usable reason or actor */
function checkChange({ reason, actor, yes }: ChangeOptions): void {
  checkAct({ reason, actor });
  if (!yes && !isInteractive())
    throw new UsageError('This command asks before it changes anything, but has no terminal. Pass --yes.');
}

/** Shows what a command will change, and asks. */
export async function agrees(change: readonly string[], { yes, json }: ChangeOptions): Promise<boolean> {
  if (!json || !yes) for (const line of change) printText(line);
  return yes || (await confirm('Go on?'));
}

export function actorOption(): Option {
  const actor = `${userName()}@${hostname()}`.slice(0, 128);
  return new Option('--actor <name>', 'who, for the record').default(actor, 'user@host');
}

/** A container can run under a number that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
