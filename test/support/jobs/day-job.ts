import type { JobConfiguration, OncePerConfiguration } from 'cronlatch';

/** A job of the ledger's cases: once per day in Paris. */
export function dayJob(
  oncePer: Partial<OncePerConfiguration> = {},
  lock: Partial<JobConfiguration> = {},
): JobConfiguration {
  const day = { period: 'day', timeZone: 'Europe/Paris' } as const;
  return { name: 'close-day', lockAtMostFor: '1m', ...lock, oncePer: { ...day, ...oncePer } };
}

/** The run of this job on the day on which the time of a test begins. */
export const FIRST_DAY = { job: 'close-day', periodKey: '2026-11-20' } as const;
export const SECOND_DAY = { job: 'close-day', periodKey: '2026-11-21' } as const;
