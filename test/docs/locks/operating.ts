import type { JobGuard } from 'cronlatch';
import { operations } from 'cronlatch/operations';

export async function freeLocksOf(guard: JobGuard, host: string): Promise<string[]> {
  const locks = await guard.locks.list({ limit: 100 }); // By name. Pass the last name as `after` for the next ones.
  const hostOf = (owner: string) => owner.split('/')[0]?.split(':').at(-1); // An owner is [name:]host/process/id.
  const held = locks.filter(({ isHeld, lockedBy }) => isHeld && hostOf(lockedBy) === host);
  for (const { name: lock, lockedBy: owner, lockUntil } of held) {
    console.log(`${lock} is held until ${lockUntil.toISOString()}`);
    await operations(guard).release({ lock, owner }, { actor: 'anne', reason: `${host} lost its power` });
  }
  return held.map(({ name }) => name);
}
