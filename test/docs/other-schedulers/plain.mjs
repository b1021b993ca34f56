import { createJobGuard } from 'cronlatch/memory';

const guard = createJobGuard();

const closeDay = guard.wrap(
  { name: 'close-day', lockAtMostFor: '10m', oncePer: { period: 'day', timeZone: 'Europe/Paris' } },
  async () => console.log('closing the day'),
);

await closeDay();
await closeDay(); // Skipped: the day is completed.
await guard.close();
