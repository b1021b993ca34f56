import assert from 'node:assert/strict';
import type { Lock } from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';

/** All instances ask for the lock at once: one gets it, the others are refused, and no call fails. */
export async function race(askers: readonly LockProvider[], name: string): Promise<Lock> {
  const answers = await Promise.all(askers.map((asker) => asker.lock({ name, lockAtMostFor: '1m' })));
  const [lock, ...others] = answers.filter((answer) => answer !== undefined);
  assert.ok(
    lock !== undefined && others.length === 0,
    `'${name}' has ${others.length + (lock ? 1 : 0)} winners`,
  );
  return lock;
}
