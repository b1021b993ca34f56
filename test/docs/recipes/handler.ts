import { createJobGuard } from 'cronlatch/pg';
import { closeDay } from './close-day.js';

const CLOSE_DAY = {
  ...{ name: 'close-day', lockAtMostFor: '15m' }, // At least the time limit of the function.
  oncePer: { period: 'day', timeZone: 'Europe/Paris' },
} as const;

export async function handler({ time }: { readonly time: string }): Promise<string> {
  const guard = await createJobGuard(process.env['DATABASE_URL'] ?? '', { pollInterval: false });
  try {
    const result = await guard.run({ ...CLOSE_DAY, at: new Date(time) }, closeDay);
    return result.executed ? 'completed' : result.reason;
  } finally {
    await guard.close();
  }
}
