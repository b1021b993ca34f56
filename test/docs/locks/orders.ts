import { lockName, type JobGuard } from 'cronlatch';

/** @returns `false` if another process is working on this order */
export async function processOrder(guard: JobGuard, id: number, work: () => Promise<void>): Promise<boolean> {
  const { executed } = await guard.run({ name: lockName('ORDER', id), lockAtMostFor: '1m' }, work);
  return executed;
}
