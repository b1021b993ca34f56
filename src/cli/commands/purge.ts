import { Option, type Command } from 'commander';
import { parsePositiveDuration } from '../../core/duration';
import { addChangeCommand, agrees, withGuardToChange } from '../guard-command';
import { KnownJobs } from '../known-jobs';
import type { OpenedGuard } from '../open-guard';
import type { ChangeOptions } from '../options';
import { printJson } from '../output';
import { print } from '../terminal';

interface PurgeOptions extends ChangeOptions {
  readonly olderThan: string;
  readonly locks?: boolean;
}

/** `cronlatch purge`: deletes old runs, or the records of old locks. */
export function addPurgeCommand(program: Command): void {
  addChangeCommand(program, 'purge', 'delete runs that ended long ago')
    .addOption(new Option('--older-than <duration>', 'how long ago, as in 400d').makeOptionMandatory())
    .option('--locks', 'delete records of locks instead, for guards with keepRows: false')
    .action(withGuardToChange(purge, ({ locks }) => (locks ? { keepRows: false } : {})));
}

async function purge(opened: OpenedGuard, options: PurgeOptions): Promise<void> {
  const { olderThan, locks = false, actor, reason, json } = options;
  parsePositiveDuration(olderThan, '--older-than', 36_500);
  const what = locks
    ? `the records of locks that ended more than ${olderThan} ago. Other programs, such as ShedLock for Java, need them`
    : `the runs that ended more than ${olderThan} ago, except for the newest of each job`;
  if (!(await agrees(`delete ${what}`, options))) return;
  const deleted = locks
    ? await opened.guard.locks.purge({ olderThan })
    : await (await KnownJobs.of(opened)).ledger.purge({ olderThan });
  if (json) printJson('purge', { deleted, locks, actor, reason });
  else print(`deleted ${deleted}`);
}
