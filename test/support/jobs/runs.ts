import type { NewRun, NewRunEvent } from '#cronlatch/ledger/run-store';

export const LIMIT = { timeoutMs: 5000 };

/** A day that has ended, of a job whose first attempt has just started. */
export const RUNNING: NewRun = {
  job: 'close-day',
  scope: '',
  periodKey: '2026-03-28',
  periodStart: new Date('2026-03-27T23:00:00Z'),
  periodEnd: new Date('2026-03-28T23:00:00Z'),
  timeZone: 'Europe/Paris',
  state: 'running',
  started: { claimedBy: 'host/1/a', lockId: 'place/close-day', fencingToken: 7, leaseMs: 60_000 },
};

export const PENDING: NewRun = { ...RUNNING, state: 'pending', started: undefined };

/** The attempt of `RUNNING` as its holder knows it. */
export const CLAIM = {
  job: RUNNING.job,
  scope: RUNNING.scope,
  periodKey: RUNNING.periodKey,
  ...{ generation: 0, attempt: 1, claimedBy: 'host/1/a' },
};

export const FAILED: NewRunEvent = {
  ...{ generation: 0, attempt: 1, kind: 'failed', actor: 'host/1/a' },
  ...{ fencingToken: 7, detail: 'it was the 28th' },
};
