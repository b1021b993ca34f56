import type { GuardConfiguration } from 'cronlatch';

/** A job of the sample. Without `usualMs`, it has no runs. */
export interface SampleJob extends Omit<
  GuardConfiguration,
  'lockAtMostFor' | 'lockAtLeastFor' | 'keepAlive'
> {
  /** A cron expression on the clocks of Paris, or the milliseconds from tick to tick. */
  readonly schedule: string | number;
  /** Default: a minute, which the holder renews. */
  readonly lock?: Pick<GuardConfiguration, 'lockAtMostFor' | 'lockAtLeastFor' | 'keepAlive'>;
  readonly usualMs?: number;
  /** What each run returns a number of. */
  readonly counts?: string;
  /** What the first attempt of some runs fails with. */
  readonly error?: string;
}

export const TIME_ZONE = 'Europe/Paris';

const [DAY, TICK] = [{ period: 'day' }, { period: 'tick' }] as const;

/** What a company runs at night, and during the day. */
export const SAMPLE_JOBS: readonly SampleJob[] = [
  {
    ...{ name: 'settle-card-payments', schedule: '15 3 * * *', usualMs: 74_000, counts: 'payments' },
    oncePer: { ...DAY, retry: { maxAttempts: 2 } },
    error: 'connect ECONNREFUSED 10.0.0.7:8443: the card processor does not answer',
  },
  {
    ...{ name: 'import-bank-statements', schedule: '30 4 * * *', usualMs: 48_000, counts: 'statements' },
    oncePer: { ...DAY, onCrash: 'hold' },
    error: 'sftp: the connection to files.bank.example timed out after 30 s',
  },
  { name: 'send-reminders', schedule: '*/15 * * * *', lock: { lockAtMostFor: '10m', lockAtLeastFor: '1m' } },
  {
    name: 'rebuild-search-index',
    schedule: '0 1 * * *',
    oncePer: DAY,
    usualMs: 4_200_000,
    counts: 'documents',
  },
  {
    ...{ name: 'close-day', schedule: '0 3 * * *', oncePer: DAY, usualMs: 120_000, counts: 'bookings' },
    error: 'Deadlock found when trying to get lock; try restarting transaction',
  },
  {
    ...{
      name: 'export-to-datev',
      schedule: '30 5 * * 1-5',
      oncePer: DAY,
      usualMs: 16_000,
      counts: 'bookings',
    },
    error: 'HTTP 503 from the accounting service',
  },
  {
    ...{ name: 'payroll-run', schedule: '0 4 1 * *', usualMs: 300_000, counts: 'payslips' },
    oncePer: { period: 'month', onCrash: 'hold' },
  },
  {
    ...{ name: 'send-invoices', schedule: '0 6 * * *', oncePer: DAY, usualMs: 180_000, counts: 'invoices' },
    error: '421 4.7.0 Too many connections, try again later',
  },
  { name: 'refresh-materialized-views', schedule: '0 * * * *', oncePer: TICK, usualMs: 41_000 },
  {
    ...{ name: 'sync-exchange-rates', schedule: 10_000, oncePer: TICK, usualMs: 600 },
    lock: { lockAtMostFor: '30s', lockAtLeastFor: '8s' },
  },
  {
    ...{ name: 'purge-expired-sessions', schedule: '*/5 * * * *' },
    lock: { lockAtMostFor: '4m', lockAtLeastFor: '30s' },
  },
  {
    ...{ name: 'weekly-management-report', schedule: '0 7 * * 1', usualMs: 52_000, counts: 'pages' },
    oncePer: { period: 'week' },
  },
  { name: 'disabled-report', schedule: '0 9 * * *', oncePer: DAY, enabled: false },
];
