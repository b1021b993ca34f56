import { CommanderError } from 'commander';
import {
  CronlatchError,
  InvalidLockConfigurationError,
  InvalidLockUseError,
  SchemaMismatchError,
} from '../core';
import { withoutAddresses } from '../core/options';
import { EXIT } from './exit-codes';

/** The command was called in a wrong way. It ends with the exit code 2. */
export class UsageError extends Error {}

/** What the command was to change is in another state. It ends with the exit code 4. */
export class ConflictError extends Error {}

export function exitCodeOf(error: unknown): number {
  // commander also throws when it has shown its help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (error instanceof ConflictError) return EXIT.conflict;
  const isUsage =
    error instanceof UsageError ||
    error instanceof InvalidLockConfigurationError ||
    error instanceof InvalidLockUseError;
  return isUsage ? EXIT.usage : 1;
}

/** The result of a change, or a ConflictError if the state of a run does not allow it. */
export async function orConflict<T>(change: Promise<T>): Promise<T> {
  return await change.catch((error: unknown) => {
    throw error instanceof InvalidLockUseError ? new ConflictError(error.message, { cause: error }) : error;
  });
}

/** What a user reads about an error: one line, or one per problem of the tables. */
export function linesOf(error: unknown): readonly string[] {
  if (error instanceof SchemaMismatchError) return withOneRemedy(withCommands(error.message)).split('\n');
  if (error instanceof CommanderError) return isHelp(error) ? [] : [plain(error.message)];
  const isOurs =
    error instanceof CronlatchError || error instanceof UsageError || error instanceof ConflictError;
  return [plain(error instanceof Error ? error.message : String(error), isOurs)];
}

/** The stacks of an error and its causes, without the properties of drivers' errors. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = error.cause === undefined ? '' : `Caused by: ${stackOf(error.cause)}`;
  return `${withoutAddresses(error.stack ?? error.message)}\n${cause}`;
}

function isHelp({ code }: CommanderError): boolean {
  return ['commander.help', 'commander.helpDisplayed', 'commander.version'].includes(code);
}

/** @param isOurs the message contains no address, except for an example */
function plain(message: string, isOurs = false): string {
  const line = message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  return isOurs ? withCommands(line) : withoutAddresses(line);
}

/** On the command line, one command creates all tables that are missing. */
function withOneRemedy(message: string): string {
  const facts = message.replace(/ Create it with (npx cronlatch init|createTables\().*$/gm, '');
  return facts === message ? message : `${facts} Create what is missing with npx cronlatch init.`;
}

/** The library's messages name options of the library. On the command line, other options do the same. */
function withCommands(message: string): string {
  return message.replace(/([Pp])ass force: true/g, '$1ass --force');
}
