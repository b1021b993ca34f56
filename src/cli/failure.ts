import { CommanderError } from 'commander';
import { CronlatchError, InvalidLockConfigurationError, SchemaMismatchError } from '../core';
import { UsageError } from './usage-error';

export function exitCodeOf(error: unknown): number {
  // commander also throws when it has shown its help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof UsageError || error instanceof InvalidLockConfigurationError ? 2 : 1;
}

/** What a user reads about an error: one line, or one per problem of the tables. */
export function linesOf(error: unknown): readonly string[] {
  if (error instanceof SchemaMismatchError) return error.message.split('\n');
  if (error instanceof CommanderError) return isHelp(error) ? [] : [plain(error.message)];
  const isOurs = error instanceof CronlatchError || error instanceof UsageError;
  return [plain(error instanceof Error ? error.message : String(error), isOurs)];
}

function isHelp({ code }: CommanderError): boolean {
  return ['commander.help', 'commander.helpDisplayed', 'commander.version'].includes(code);
}

/** @param isOurs the message contains no address, except for an example */
function plain(message: string, isOurs = false): string {
  const line = message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  return isOurs ? line : line.replace(/\b[a-z][a-z0-9+.-]*:\/\/(?:.*@)?[^\s'\"]*/gi, '***');
}
