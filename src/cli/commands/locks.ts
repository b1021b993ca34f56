import type { Command } from 'commander';
import { LockStorageError, type LockState } from '../../core';
import { parsePositiveDuration } from '../../core/duration';
import { instanceOf, leaseOf } from '../../core/lease/owner';
import type { JobGuard } from '../../guard';
import { operations } from '../../operations';
import { allLocks, unableTo } from '../../operations/held-locks';
import { locksOfJobs } from '../../operations/overview';
import { countText, stateCell, stateOfLock } from '../../operations/state-texts';
import { ConflictError } from '../failure';
import { addChangeCommand, addGuardCommand, agrees, withGuard } from '../guard-command';
import { JobCatalog } from '../../operations/job-catalog';
import type { ChangeOptions, Options } from '../options';
import { print, printJson, printNote, printTable, printText, shown, timesOf } from '../terminal';

/**
 * `cronlatch locks` lists the locks. `release` ends the lease of a holder that has crashed. `purge` deletes old runs, or
 * the records of old locks.
 */
export function addLockCommands(program: Command): void {
  addGuardCommand(program, 'locks', 'list the locks and their holders')
    .option('--held', 'only locks that are held')
    .action(withGuard(listLocks));
  addChangeCommand(program, 'release <lock>', 'release a lock whose holder is dead')
    .requiredOption('--owner <owner>', 'the holder, as locks shows it')
    .action(withGuard(release));
  addChangeCommand(program, 'purge', 'delete runs that ended long ago')
    .requiredOption('--older-than <duration>', 'how long ago, as in 400d')
    .option('--locks', 'delete records of locks instead, for guards with keepRows: false')
    .action(withGuard(purge, ({ locks }) => (locks ? { keepRows: false } : {})));
}

async function listLocks(
  guard: JobGuard,
  { held = false, verbose = false, json }: Options & { readonly held?: boolean; readonly verbose?: boolean },
): Promise<void> {
  const listed = await allLocks(guard.locks, { held }).catch(unableTo);
  const locks = listed ?? (await heldByJobs(guard));
  if (json) return printJson('locks', { locks });
  if (!listed) printNote('This lock provider cannot list its locks. These are the held locks of jobs.');
  if (locks.length === 0) return print(held ? 'no lock is held' : 'there are no locks');
  const times = timesOf([], locks[0]?.readAt ?? new Date());
  const count = locks.filter(({ isHeld }) => isHeld).length;
  printText(`${countText(locks.length, 'lock')}, ${count} held · ${times.head}`, 'bold');
  const rows = locks
    .toSorted((a, b) => Number(b.isHeld) - Number(a.isHeld))
    .map((lock) => {
      const { name, isHeld, lockedBy, lockedAt, lockUntil, fencingToken } = lock;
      const [state, holder] = stateOfLock(lock);
      return {
        lock: name,
        state: stateCell(state),
        holder: verbose && isHeld ? lockedBy : holder,
        until: isHeld ? times.at(lockUntil) : undefined,
        since: isHeld ? times.at(lockedAt) : undefined,
        token: verbose ? fencingToken : undefined,
      };
    });
  printTable(rows, { drop: ['token', 'since'], wrap: 'holder' });
}

async function heldByJobs(guard: JobGuard): Promise<readonly LockState[]> {
  const overview = await operations(guard).overview();
  const [problem] = overview.problems;
  if (problem) throw new LockStorageError(problem.text);
  return locksOfJobs(overview);
}

async function release(
  { locks }: JobGuard,
  options: ChangeOptions & { readonly owner: string },
  name = '',
): Promise<void> {
  const { owner, actor, reason, json } = options;
  const state = await locks.inspect(name);
  if (!state?.isHeld) throw new ConflictError(`Lock '${name}' is free: no process holds it.`);
  const { lockedBy, lockUntil } = state;
  if (leaseOf(lockedBy) !== leaseOf(owner) && instanceOf(lockedBy) !== owner)
    throw new ConflictError(
      `Lock '${name}' is held by '${lockedBy}', not by '${owner}'. If you have seen that that holder is dead, pass it as --owner.`,
    );
  const change = [
    `release lock ${shown(name)}, held by ${shown(lockedBy)} until ${shown(lockUntil)}`,
    'The holder is not stopped, so first make sure that it has ended.',
  ];
  if (!(await agrees(change, options))) return;
  if (!(await locks.release(name, { actor, reason, owner: lockedBy })))
    throw new ConflictError(`Lock '${name}' was not released: its holder has changed meanwhile.`);
  if (json) printJson('release', { released: name, owner: lockedBy, actor, reason });
  else print(`released ${shown(name)}`);
}

async function purge(
  guard: JobGuard,
  options: ChangeOptions & { readonly olderThan: string; readonly locks?: boolean },
): Promise<void> {
  const { olderThan, locks = false, actor, reason, json } = options;
  parsePositiveDuration(olderThan, '--older-than', 36_500);
  const what = locks
    ? `the records of locks that ended more than ${olderThan} ago. Other programs, such as ShedLock for Java, need them`
    : `the runs that ended more than ${olderThan} ago, except for the newest of each job`;
  if (!(await agrees([`delete ${what}`], options))) return;
  const records = locks ? guard.locks : (await JobCatalog.of(guard)).ledger;
  const deleted = await records.purge({ olderThan });
  if (json) printJson('purge', { deleted, locks, actor, reason });
  else print(`deleted ${deleted}`);
}
