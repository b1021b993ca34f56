import { createJobGuard } from 'cronlatch/better-sqlite3';
import { scheduleLocked } from 'cronlatch/node-cron';

const guard = await createJobGuard(process.env.DATABASE_URL);
const lock = { name: 'hello', lockAtMostFor: '10s', lockAtLeastFor: '2s' };
scheduleLocked('*/5 * * * * *', lock, () => console.log('hello from', process.pid), { guard });
guard.closeOnSignals();
