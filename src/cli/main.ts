#!/usr/bin/env node
/**
 * The command line of the package, `npx cronlatch`. Each file of `commands/` has the commands that belong together.
 * Most of them work with a guard: the application's own one, or one on the same tables. `failure.ts` has the exit codes.
 */
import { Command, type Option } from 'commander';
import { VERSION } from '../core/version';
import { addActCommands } from './commands/acts';
import { addCompletionCommand } from './commands/completion';
import { addDashboardCommand } from './commands/dashboard';
import { addDemoCommand } from './commands/demo';
import { addDoctorCommand } from './commands/doctor';
import { addExecCommand } from './commands/exec';
import { addHistoryCommand } from './commands/history';
import { addJobsCommand } from './commands/jobs';
import { addTableCommands } from './commands/tables';
import { addLocksCommand } from './commands/locks';
import { addLogsCommand } from './commands/logs';
import { addStatusCommand } from './commands/status';
import { addWhyCommand } from './commands/why';
import { exitCodeOf, linesOf, stackOf, UsageError } from './failure';
import { endProcess, ignoreClosedPipes, io, printNote, useIo, type Io } from './terminal';

/** By what an operator wants to do, in the order of the help. */
const COMMANDS: readonly (readonly [group: string, ...((program: Command) => void)[]])[] = [
  ['Look:', addStatusCommand, addDashboardCommand, addWhyCommand, addHistoryCommand, addLogsCommand],
  ['Look:', addLocksCommand, addJobsCommand],
  ['Act:', addActCommands],
  ['Look:', addDoctorCommand],
  ['Set up:', addTableCommands, addCompletionCommand],
  ['Run:', addExecCommand, addDemoCommand],
];

/** The options that most commands have. The help shows them after those of the command itself. */
const COMMON: ReadonlySet<string> = new Set(
  'url dataSource app lockTable runTable jobTable rowLockTable schema json utc verbose'.split(' '),
);

const EXAMPLES = `
Examples:
  cronlatch status                       the jobs, and what needs your attention
  cronlatch history --since 12h          the runs of the last night
  cronlatch why JOB                      why a job does not run now
  cronlatch rerun JOB --reason TEXT      run the newest period of a job again`;

function groupOptions({ options }: Command): void {
  const isCommon = (option: Option): boolean => COMMON.has(option.attributeName());
  options.filter(isCommon).forEach((option) => option.helpGroup('Common options:'));
  (options as Option[]).sort((one, other) => Number(isCommon(one)) - Number(isCommon(other)));
}

function programOf(): Command {
  const program = new Command('cronlatch')
    .description('Shows and changes what cronlatch keeps in a database, and creates its tables.')
    .version(VERSION)
    .commandsGroup('More:')
    .helpCommand(true)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: () => {}, // `fail` prints it, like every other error.
    });
  for (const [group, ...adds] of COMMANDS) for (const add of adds) add(program.commandsGroup(group));
  for (const [name, successor] of Object.entries(GONE))
    program
      .command(`${name} [words...]`, { hidden: true })
      .allowUnknownOption()
      .action(() => {
        throw new UsageError(`cronlatch ${name} is gone. Use ${successor}.`);
      });
  for (const command of program.commands)
    groupOptions(command.option('--verbose', 'print the stack of an error, too'));
  return program.addHelpText('after', EXAMPLES);
}

const GONE = {
  backfill: 'cronlatch run JOB --from DATE --to DATE',
  calendar: 'cronlatch history JOB, or the dashboard',
  explain: 'cronlatch why JOB --at WHEN',
  hold: 'cronlatch pause --lock NAME',
  missed: 'cronlatch history JOB --missed',
  unhold: 'cronlatch resume --lock NAME',
};

/** Whether the stack of an error is printed, too. */
let isVerbose = false;

function fail(error: unknown): void {
  for (const line of linesOf(error)) printNote(line);
  if (isVerbose) io.stderr.write(stackOf(error));
  io.exitCode = exitCodeOf(error);
}

/** One call, with the arguments that follow the name of the program. Its exit code is that of `place`. */
export async function main(args: readonly string[], place: Io): Promise<void> {
  useIo(place);
  isVerbose = false;
  const program = programOf().hook('preAction', (_program, command) => {
    isVerbose = command.opts<{ verbose?: boolean }>().verbose ?? false;
  });
  await program.parseAsync(args, { from: 'user' }).catch(fail);
}

async function runProcess(): Promise<void> {
  ignoreClosedPipes(fail);
  // A file of the application can leave a rejection behind.
  process.once('uncaughtException', (error) => {
    fail(error);
    process.exit();
  });
  await main(process.argv.slice(2), process);
  endProcess();
}

if (require.main === module) void runProcess();
