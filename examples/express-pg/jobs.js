/** The jobs, and when they run. */
import { scheduleLocked } from 'cronlatch/node-cron';

export function scheduleJobs(guard, pool) {
  const lock = { name: 'send-reminders', lockAtMostFor: '1m', lockAtLeastFor: '1s' };
  const sendReminders = async () => {
    console.log(`sending reminders in process ${process.pid}`);
    await pool.query('SELECT 1'); // The work.
  };
  // Every two seconds, so that you can watch it. Each morning at eight: '0 8 * * *', with a timeZone beside the guard.
  scheduleLocked('*/2 * * * * *', lock, sendReminders, { guard });
}
