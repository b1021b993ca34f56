import { createJobGuard } from 'cronlatch/better-sqlite3';
import { scheduleLocked } from 'cronlatch/node-cron';

const guard = await createJobGuard(process.env.DATABASE_URL);
const hello = { name: 'hello', lockAtMostFor: '10s', lockAtLeastFor: '2s' };
scheduleLocked('*/5 * * * * *', hello, () => {}, { guard }); // Every five seconds, on one instance.
guard.closeOnSignals();
