import { OncePerDay } from 'cronlatch';
import { weekdays, withHolidays, withWorkingDays } from 'cronlatch/calendar';
import { Scheduled } from 'cronlatch/node-cron';

const workdays = withWorkingDays(
  withHolidays(weekdays(), ['2026-12-24', '2026-12-25']),
  ['2026-12-19'], // A working Saturday that makes up for a holiday.
);

export class ClosingJobs {
  // The business day begins at 05:00. Tuesday's tick at 07:00 closes Monday's books.
  @Scheduled('0 7 * * *', { timeZone: 'Asia/Shanghai' })
  @OncePerDay({ name: 'close-books', dayStart: '05:00', target: 'previous', calendar: workdays })
  async closeBooks(): Promise<void> {}
}
