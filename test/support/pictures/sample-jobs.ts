import type { GuardConfiguration } from 'cronlatch';

/** A job of the sample. Without `usualMs`, it has no runs. */
export interface SampleJob {
  readonly configuration: GuardConfiguration;
  /** A cron expression on the clocks of Paris, or the milliseconds from tick to tick. */
  readonly schedule: string | number;
  readonly usualMs?: number;
  /** What each run returns a number of. */
  readonly counts?: string;
  /** What the first attempt of some runs failed with. */
  readonly error?: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;

export const TIME_ZONE = 'Europe/Paris';

const renewed = (name: string) => ({ name, lockAtMostFor: '1m', keepAlive: true }) as const;
const daily = (name: string) => ({ ...renewed(name), oncePer: { period: 'day' } }) as const;

/** What a company of middle size runs at night, and during the day. */
export const SAMPLE_JOBS: readonly SampleJob[] = [
  {
    configuration: {
      ...renewed('settle-card-payments'),
      oncePer: { period: 'day', retry: { maxAttempts: 2 } },
    },
    schedule: '15 3 * * *',
    usualMs: 74 * SECOND,
    counts: 'payments',
    error: 'connect ECONNREFUSED 10.0.0.7:8443: the card processor does not answer',
  },
  {
    configuration: { ...renewed('import-bank-statements'), oncePer: { period: 'day', onCrash: 'hold' } },
    schedule: '30 4 * * *',
    usualMs: 48 * SECOND,
    counts: 'statements',
    error: 'sftp: the connection to files.bank.example timed out after 30 s',
  },
  {
    configuration: { name: 'send-reminders', lockAtMostFor: '10m', lockAtLeastFor: '1m' },
    schedule: '*/15 * * * *',
  },
  {
    configuration: daily('rebuild-search-index'),
    schedule: '0 1 * * *',
    usualMs: 70 * MINUTE,
    counts: 'documents',
  },
  {
    configuration: daily('close-day'),
    schedule: '0 3 * * *',
    usualMs: 2 * MINUTE,
    counts: 'bookings',
    error: 'Deadlock found when trying to get lock; try restarting transaction',
  },
  {
    configuration: daily('export-to-datev'),
    schedule: '30 5 * * 1-5',
    usualMs: 16 * SECOND,
    counts: 'bookings',
    error: 'HTTP 503 from the accounting service',
  },
  {
    configuration: { ...renewed('payroll-run'), oncePer: { period: 'month', onCrash: 'hold' } },
    schedule: '0 4 1 * *',
    usualMs: 9 * MINUTE,
    counts: 'payslips',
  },
  {
    configuration: daily('send-invoices'),
    schedule: '0 6 * * *',
    usualMs: 3 * MINUTE,
    counts: 'invoices',
    error: '421 4.7.0 Too many connections, try again later',
  },
  {
    configuration: { ...renewed('refresh-materialized-views'), oncePer: { period: 'tick' } },
    schedule: '0 * * * *',
    usualMs: 41 * SECOND,
  },
  {
    configuration: {
      ...{ name: 'sync-exchange-rates', lockAtMostFor: '30s', lockAtLeastFor: '8s' },
      oncePer: { period: 'tick' },
    },
    schedule: 10 * SECOND,
    usualMs: 0.6 * SECOND,
  },
  {
    configuration: { name: 'purge-expired-sessions', lockAtMostFor: '4m', lockAtLeastFor: '30s' },
    schedule: '*/5 * * * *',
  },
  {
    configuration: { ...renewed('weekly-management-report'), oncePer: { period: 'week' } },
    schedule: '0 7 * * 1',
    usualMs: 52 * SECOND,
    counts: 'pages',
  },
  { configuration: { ...daily('disabled-report'), enabled: false }, schedule: '0 9 * * *' },
];
