import type { Command } from 'commander';
import { LockStorageError, type LockState } from '../../core';
import type { JobGuard } from '../../guard';
import { operations } from '../../operations';
import { allLocks, unableTo } from '../../operations/held-locks';
import { locksOfJobs } from '../../operations/overview';
import { countText, stateCell, stateOfLock } from '../../operations/state-texts';
import { addGuardCommand, withGuard } from '../guard-command';
import type { Options } from '../options';
import { print, printJson, printNote, printTable, printText, timesOf } from '../terminal';

export function addLocksCommand(program: Command): void {
  addGuardCommand(program, 'locks', 'list the locks and their holders')
    .option('--held', 'only locks that are held')
    .action(withGuard(listLocks));
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
