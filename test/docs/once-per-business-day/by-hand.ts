import type { JobGuard } from 'cronlatch';

const close = {
  name: 'close-day',
  lockAtMostFor: '1m',
  keepAlive: true,
  oncePer: { period: 'day', timeZone: 'Europe/Paris' },
} as const;

/** For any scheduler; registered, so that what is owed of it is brought back. */
export function closeDayWith(guard: JobGuard, work: () => Promise<void>): () => Promise<void> {
  return guard.wrap(close, work);
}

/** For a day that you name, whatever the time is. */
export async function closeDayOf(guard: JobGuard, at: Date, work: () => Promise<void>): Promise<string> {
  const result = await guard.run({ ...close, at }, work);
  return result.executed ? 'closed' : result.reason;
}
