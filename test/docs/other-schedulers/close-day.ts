import { createJobGuard } from 'cronlatch/typeorm';
import { closeTheDay } from './close-the-day';
import dataSource from './ormconfig';

const CLOSE_DAY = {
  name: 'close-day',
  lockAtMostFor: '1m',
  keepAlive: true,
  oncePer: { period: 'day', timeZone: 'Europe/Paris' },
} as const;

/** After these skips nothing is left to do. After any other, a retry is due later or another process runs the job. */
const IS_SETTLED: readonly string[] = ['already-completed', 'calendar', 'skipped', 'deadline'];

/** Kubernetes ends the name of a Job with its scheduled minute, counted from 1970. A date there means another time. */
function scheduledTime(jobName = ''): Date | undefined {
  const [, minutes] = /-(\d{8})$/.exec(jobName) ?? [];
  if (minutes === undefined) return undefined;
  const scheduledAt = new Date(Number(minutes) * 60_000);
  const ageInDays = (Date.now() - scheduledAt.getTime()) / 86_400_000;
  if (Math.abs(ageInDays) <= 31) return scheduledAt;
  throw new Error(
    `The end of the name '${jobName}' is not a minute near now, but in ${scheduledAt.getFullYear()}.`,
  );
}

async function main(): Promise<void> {
  await dataSource.initialize();
  const guard = await createJobGuard(dataSource);
  guard.closeOnSignals({ timeout: '20s', grace: '20s' }); // Asks the job to stop at once; the next start retries it.
  try {
    const scheduledAt = scheduledTime(process.env['JOB_NAME']);
    const result = await guard.run({ ...CLOSE_DAY, scheduledAt }, closeTheDay);
    if (result.executed) return;
    console.log(`skipped: ${result.reason}`);
    if (!IS_SETTLED.includes(result.reason)) process.exitCode = 75; // "Try again later", by convention.
  } finally {
    await guard.close();
    await dataSource.destroy();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
