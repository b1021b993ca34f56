import type { JobGuard } from 'cronlatch';

export async function freeLocksOf(guard: JobGuard, host: string): Promise<string[]> {
  const locks = await guard.locks.list({ limit: 100 }); // By name. Pass the last name as `after` for the next ones.
  const held = locks.filter(({ isHeld, lockedBy }) => isHeld && lockedBy.startsWith(`${host}/`));
  for (const { name, lockUntil } of held) {
    console.log(`${name} is held until ${lockUntil.toISOString()}`);
    await guard.locks.release(name, { actor: 'anne', reason: `${host} lost its power` });
  }
  return held.map(({ name }) => name);
}
