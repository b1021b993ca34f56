#!/usr/bin/env node
/**
 * The command line of the package, `npx cronlatch`. Each file of `commands/` has the commands that belong together.
 * Most of them work with a guard: the application's own one, or one on the same tables. `failure.ts` has the exit codes.
 */
import { Command } from 'commander';
import { VERSION } from '../core/version';
import { addDoctorCommand } from './commands/doctor';
import { addExecCommand } from './commands/exec';
import { addTableCommands } from './commands/tables';
import { addLockCommands } from './commands/locks';
import { addPeriodCommands } from './commands/periods';
import { addRunCommands } from './commands/runs';
import { addStatusCommand } from './commands/status';
import { addWhyCommand } from './commands/why';
import { exitCodeOf, linesOf, stackOf } from './failure';
import { endProcess, ignoreClosedPipes, printNote } from './terminal';

/** In the order of the help. */
const COMMANDS: readonly ((program: Command) => void)[] = [
  addTableCommands,
  addStatusCommand,
  addPeriodCommands,
  addRunCommands,
  addWhyCommand,
  addLockCommands,
  addDoctorCommand,
  addExecCommand,
];

function programOf(): Command {
  const program = new Command('cronlatch')
    .description('Shows and changes what cronlatch keeps in a database, and creates its tables.')
    .version(VERSION)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: () => {} }); // Printed below, like every other error.
  for (const add of COMMANDS) add(program);
  for (const command of program.commands) command.option('--verbose', 'print the stack of an error, too');
  return program;
}

/** @param isVerbose also shows where the error was thrown */
function fail(error: unknown, isVerbose = false): void {
  for (const line of linesOf(error)) printNote(line);
  if (isVerbose) process.stderr.write(stackOf(error));
  process.exitCode = exitCodeOf(error);
}

async function main(): Promise<void> {
  let isVerbose = false;
  const program = programOf().hook('preAction', (_program, command) => {
    isVerbose = command.opts<{ verbose?: boolean }>().verbose ?? false;
  });
  ignoreClosedPipes(fail);
  // A file of the application can leave a rejection behind.
  process.once('uncaughtException', (error) => {
    fail(error, isVerbose);
    process.exit();
  });
  await program.parseAsync().catch((error: unknown) => fail(error, isVerbose));
  endProcess();
}

if (require.main === module) void main();
