import { CommanderError } from 'commander';
import {
  CronlatchError,
  InvalidLockConfigurationError,
  InvalidLockUseError,
  SchemaMismatchError,
  type SkipReason,
} from '../core';
import { withoutAddresses } from '../core/options';
import { ACTS } from '../operations/acts';
import { ConflictError } from '../ledger/operator/decide-act';

/** The exit codes of a command, beside 1 for an error. */
export const EXIT = { done: 0, usage: 2, conflict: 4, problems: 5, stillDue: 75 } as const;

/** After these skips nothing is left to do, or only an operator can do it. After all others, a later call may succeed. */
export const EXIT_AFTER: { readonly [R in SkipReason]?: number } = {
  'already-completed': EXIT.done,
  skipped: EXIT.done,
  calendar: EXIT.done,
  deadline: EXIT.done,
  exhausted: 1,
  interrupted: 1,
};

/** The command was called in a wrong way. It ends with the exit code 2. */
export class UsageError extends Error {}

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

/** What a user reads about an error: one line, or one per problem of the tables. */
export function linesOf(error: unknown): readonly string[] {
  if (error instanceof SchemaMismatchError) return withOneRemedy(withCommands(error.message)).split('\n');
  if (error instanceof CommanderError) return isHelp(error) ? [] : [plain(error.message)];
  const isOurs = error instanceof CronlatchError || error instanceof UsageError;
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
  const [name = ''] = /^[A-Za-z]+(?= is )/.exec(message) ?? [];
  const isField = [...ACTS.values()].some(({ fields }) => fields.some((field) => field.name === name));
  const text =
    isField || name === 'actor' || name === 'reason' ? flagOf(name) + message.slice(name.length) : message;
  return text.replace(/([Pp])ass force: true/g, '$1ass --force');
}

/** The option of a command for a field. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
