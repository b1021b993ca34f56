import { Option, type Command } from 'commander';
import { ConflictError } from '../failure';
import { addChangeCommand, addGuardCommand, agrees, withGuard, withGuardToChange } from '../guard-command';
import { allLocks, type OpenedGuard } from '../open-guard';
import type { ChangeOptions, GuardOptions } from '../options';
import { printJson, printTable, shown, styled } from '../output';
import { print } from '../terminal';

interface LocksOptions extends GuardOptions {
  readonly held?: boolean;
}

interface ReleaseOptions extends ChangeOptions {
  readonly owner: string;
}

/** `cronlatch locks` lists the locks, and `cronlatch release` ends the lease of a holder that has crashed. */
export function addLockCommands(program: Command): void {
  addGuardCommand(program, 'locks', 'list the locks and their holders')
    .option('--held', 'only locks that are held')
    .action(withGuard(listLocks));
  addChangeCommand(program, 'release <lock>', 'release a lock whose holder has crashed')
    .addOption(new Option('--owner <owner>', 'the holder, as locks shows it').makeOptionMandatory())
    .action(withGuardToChange(release));
}

async function listLocks(opened: OpenedGuard, { held = false, json }: LocksOptions): Promise<void> {
  const all = await allLocks(opened.guard);
  const locks = held ? all.filter(({ isHeld }) => isHeld) : all;
  if (json) return printJson('locks', { locks });
  if (locks.length === 0) return print(held ? 'no lock is held' : 'there are no locks');
  printTable(
    ['lock', 'state', 'holder', 'since', 'until', 'token'],
    locks.map(({ name, isHeld, lockedBy, lockedAt, lockUntil, fencingToken }) => [
      shown(name),
      isHeld ? styled('yellow', 'held') : 'free',
      shown(isHeld ? lockedBy : undefined),
      shown(isHeld ? lockedAt : undefined),
      shown(isHeld ? lockUntil : undefined),
      shown(fencingToken),
    ]),
  );
}

async function release({ guard }: OpenedGuard, options: ReleaseOptions, name = ''): Promise<void> {
  const { owner, actor, reason, json } = options;
  const state = await guard.locks.inspect(name);
  if (!state?.isHeld) throw new ConflictError(`Lock '${name}' is free: no process holds it.`);
  if (leaseOf(state.lockedBy) !== leaseOf(owner))
    throw new ConflictError(
      `Lock '${name}' is held by '${state.lockedBy}', not by '${owner}'. If that holder has crashed, pass it as --owner.`,
    );
  const change = [
    `release lock ${shown(name)}, held by ${shown(state.lockedBy)} until ${shown(state.lockUntil)}`,
    'The holder is not stopped, so first make sure that it has ended.',
  ];
  if (!(await agrees(change.join('\n'), options))) return;
  const isReleased = await guard.locks.release(name, { actor, reason, owner: state.lockedBy });
  if (!isReleased)
    throw new ConflictError(`Lock '${name}' was not released: its holder has changed meanwhile.`);
  if (json) printJson('release', { released: name, owner: state.lockedBy, actor, reason });
  else print(`released ${shown(name)}`);
}

/** The owner without the number that each extension of the lease raises. */
function leaseOf(owner: string): string {
  return owner.replace(/(\/[\da-f]{8}-[\da-f-]{27})\/\d+$/, '$1');
}
