import type { Command } from 'commander';
import { hostname, userInfo } from 'node:os';
import type { CreateJobGuardOptions } from '../integrations/sql/create-guard';
import { checkAct } from '../ledger/operator/decide-act';
import { UsageError } from './failure';
import { openGuard, type OpenedGuard } from './open-guard';
import { addGuardOptions, type ChangeOptions, type GuardOptions } from './options';
import { confirm, isInteractive, print } from './terminal';

/** A command that shows something. Its options lead to a guard. */
export function addGuardCommand(program: Command, usage: string, description: string): Command {
  return addGuardOptions(program.command(usage).description(description));
}

/** A command that changes something, for a reason that is recorded. */
export function addChangeCommand(program: Command, usage: string, description: string): Command {
  return addGuardCommand(program, usage, description)
    .requiredOption('--reason <text>', 'why, for the record')
    .option('--actor <name>', 'who, for the record (default: user@host)', actorHere())
    .option('-y, --yes', 'do not ask before the change');
}

type Body<Options> = (opened: OpenedGuard, options: Options, ...args: string[]) => Promise<void>;

/**
 * The action of a command that only reads. Opens the guard and closes it afterwards.
 *
 * @param own further options of the guard, if the command creates it
 */
export function withGuard<Options extends GuardOptions>(
  body: Body<Options>,
  own: (options: Options) => CreateJobGuardOptions = () => ({}),
) {
  return async (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const options = command.opts<Options>();
    const opened = await openGuard(options, own(options));
    try {
      await body(opened, options, ...command.args);
    } finally {
      await opened.close();
    }
  };
}

/**
 * The same for a command that changes something.
 *
 * @throws UsageError also without a terminal to ask on, and without a usable reason or actor
 */
export function withGuardToChange<Options extends ChangeOptions>(
  ...[body, own]: Parameters<typeof withGuard<Options>>
) {
  const action = withGuard(body, own);
  return async (...given: unknown[]): Promise<void> => {
    checkChange((given.at(-1) as Command).opts<Options>());
    await action(...given);
  };
}

/** @throws UsageError */
function checkChange({ reason, actor, yes }: Pick<ChangeOptions, 'reason' | 'actor' | 'yes'>): void {
  try {
    checkAct({ reason, actor });
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/^(actor|reason)/, '--$1'));
  }
  if (!yes && !isInteractive())
    throw new UsageError('This command asks before it changes anything, but has no terminal. Pass --yes.');
}

/**
 * Shows what a command will change, and asks.
 *
 * @returns `false` if the operator does not agree. The command then ends with the exit code 1.
 */
export async function agrees(change: string, { yes, json }: ChangeOptions): Promise<boolean> {
  if (!json || !yes) print(change);
  if (yes || (await confirm('Go on?'))) return true;
  print('nothing changed');
  process.exitCode = 1;
  return false;
}

function actorHere(): string {
  return `${userName()}@${hostname()}`.slice(0, 200);
}

/** A container can run under a number that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
