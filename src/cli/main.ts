#!/usr/bin/env node
/**
 * The command line of the package, `npx cronlatch`. `commands/` has a file for each command, or for a few that belong
 * together. Most of them work with a guard: the application's own one, or one on the same tables. `failure.ts` has the
 * exit codes.
 */
import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addDoctorCommand } from './commands/doctor';
import { addExecCommand } from './commands/exec';
import { addHistoryCommand } from './commands/history';
import { addHoldCommands } from './commands/hold';
import { addInitCommand } from './commands/init';
import { addJobsCommand } from './commands/jobs';
import { addLockCommands } from './commands/locks';
import { addPeriodCommands } from './commands/periods';
import { addPurgeCommand } from './commands/purge';
import { addRunCommands } from './commands/runs';
import { addSqlCommand } from './commands/sql';
import { addStatusCommand } from './commands/status';
import { addWhyCommand } from './commands/why';
import { exitCodeOf, linesOf, stackOf } from './failure';
import { logLine } from '../guard/log/log-message';
import { endProcess, ignoreClosedPipes } from './terminal';

/** In the order of the help. */
const COMMANDS: readonly ((program: Command) => void)[] = [
  ...[addInitCommand, addSqlCommand],
  ...[addStatusCommand, addJobsCommand, addHistoryCommand, addWhyCommand, addPeriodCommands, addRunCommands],
  ...[addLockCommands, addHoldCommands, addPurgeCommand, addDoctorCommand, addExecCommand],
];

function programOf(): Command {
  const program = new Command('cronlatch')
    .description('Shows and changes what cronlatch keeps in a database, and creates its tables.')
    .version(version())
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: () => {} }); // Printed below, like every other error.
  for (const add of COMMANDS) add(program);
  for (const command of program.commands) command.option('--verbose', 'print the stack of an error, too');
  return program;
}

function version(): string {
  const manifest = readFileSync(join(__dirname, '../../package.json'), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

/** @param isVerbose also shows where the error was thrown */
function fail(error: unknown, isVerbose = false): void {
  for (const line of linesOf(error)) process.stderr.write(`cronlatch: ${logLine(line)}\n`);
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
