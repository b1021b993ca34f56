import { setTimeout } from 'node:timers/promises';
import type { JobGuard } from 'cronlatch';

const LEADER = { name: 'leader', lockAtMostFor: '15s', keepAlive: true, maxLockDuration: '8h' } as const;

/** Calls `lead` on one instance at a time. `lead` must end when its signal aborts. */
export async function takeTurns(
  guard: JobGuard,
  lead: (signal: AbortSignal) => Promise<void>,
  stop: AbortSignal,
) {
  while (!stop.aborted) {
    try {
      await guard.lockManager().withLock(LEADER, { signal: stop }, async (lock) => {
        await lead(AbortSignal.any([lock.signal, stop]));
      });
    } catch (error) {
      if (stop.aborted) return;
      console.error('Not the leader:', error); // The database fails, or the leadership was lost.
      await setTimeout(1000);
    }
  }
}
