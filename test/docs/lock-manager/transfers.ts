import { lockName, type JobGuard } from 'cronlatch';

export async function transfer(guard: JobGuard, account: number, book: () => Promise<void>) {
  const manager = guard.lockManager();
  const lock = { name: lockName('ACCOUNT', account), lockAtMostFor: '10s', keepAlive: true };
  await manager.withLock(lock, book); // Waits for the lock. The result is that of the task.

  await using held = await manager.tryLock(lock, { wait: '5s' }); // Released at the end of the block.
  if (held === undefined) return 'busy'; // Another flow held the lock for five seconds.
  held.signal.throwIfAborted(); // The lock is lost, or the guard is closing.
  await book();
  return 'booked';
}
