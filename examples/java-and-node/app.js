/** The same job as in java/…/Application.java, with the same lock in the same table. */
import { createJobGuard } from 'cronlatch/mysql2';
import { scheduleLocked } from 'cronlatch/node-cron';

const guard = await createJobGuard(process.env.DATABASE_URL);
guard.closeOnSignals();

const lock = { name: 'send-reminders', lockAtMostFor: '1m', lockAtLeastFor: '1s' };
scheduleLocked('*/2 * * * * *', lock, () => console.log('Node sends the reminders'), { guard });
