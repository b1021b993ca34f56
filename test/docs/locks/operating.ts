import type { JobGuard } from 'cronlatch';
import { operations } from 'cronlatch/operations';

export async function freeLocksOf(guard: JobGuard, host: string): Promise<string[]> {
  const locks = await guard.locks.list({ limit: 100 }); // By name. Pass the last name as `after` for the next ones.
  const hostOf = (owner: string) => owner.split('/')[0]?.split(':').at(-1); // An owner is [name:]host/process/id.
  const held = locks.filter(({ isHeld, lockedBy }) => isHeld && hostOf(lockedBy) === host);
  const by = { actor: 'anne', reason: `${host} lost its power` };
  for (const { name, lockedBy: owner, lockUntil } of held) {
    console.log(`${name} is held until ${lockUntil.toISOString()}`);
    await operations(guard).release({ lock: name, owner }, by);
  }
  return held.map(({ name }) => name);
}
