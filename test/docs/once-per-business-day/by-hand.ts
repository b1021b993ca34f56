import type { JobGuard } from 'cronlatch';

const close = {
  name: 'close-day',
  lockAtMostFor: '1m',
  keepAlive: true,
  oncePer: { period: 'day', timeZone: 'Europe/Paris' },
} as const;

/** For any scheduler. The guard registers the job and starts its overdue runs. */
export function closeDayWith(guard: JobGuard, work: () => Promise<void>): () => Promise<void> {
  return guard.wrap(close, work);
}

/** For a day that you choose, at any time. */
export async function closeDayOf(guard: JobGuard, at: Date, work: () => Promise<void>): Promise<string> {
  const result = await guard.run({ ...close, at }, work);
  return result.executed ? 'closed' : result.reason;
}
