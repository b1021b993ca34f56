import type { Claim, Run, RunKey, RunPeriod } from '#cronlatch/ledger/run';
import type { FoundRun, NewRun, NewRunEvent } from '#cronlatch/ledger/run-store';

export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

export const JOB = 'contract';

/** A custom key of the contract's job. */
export function keyOf(periodKey: string, { job = JOB, scope = '' } = {}): RunKey {
  return { job, scope, periodKey };
}

export const KEY = keyOf('2026-11-20');

const NO_PERIOD = { periodStart: undefined, periodEnd: undefined, timeZone: undefined };

export const PENDING = { ...KEY, ...NO_PERIOD, state: 'pending' } as const satisfies NewRun;

export const SKIPPED = { ...PENDING, state: 'skipped', reason: 'calendar' } as const satisfies NewRun;

export function pending(periodKey: string, more: Partial<NewRun> = {}): NewRun {
  return { ...PENDING, periodKey, ...more };
}

export function skipped(periodKey: string, more: Partial<NewRun> = {}): NewRun {
  return { ...SKIPPED, periodKey, ...more };
}

/** A new run as a claim inserts it when it finds no row. */
export function running(claimedBy = 'host/1/first'): NewRun {
  const started = { claimedBy, lockId: 'place/contract', fencingToken: 7, leaseMs: 10 * MINUTE_MS };
  return { ...PENDING, state: 'running', started };
}

/** Values of a run that is due this much after the store's now. */
export function dueIn(ms: number, more: Partial<Run>): (found: FoundRun) => Partial<Run> {
  return ({ now }) => ({ ...more, nextAttemptAt: new Date(now.getTime() + ms) });
}

/** The claim of a run that `running` created. */
export const CLAIM: Claim = { ...KEY, generation: 0, attempt: 1, claimedBy: 'host/1/first' };

/** The fields of a run that no attempt, and no end, has set. */
export const NEVER_STARTED = {
  generation: 0,
  attempt: 0,
  nextAttemptAt: undefined,
  claimedBy: undefined,
  lockId: undefined,
  fencingToken: undefined,
  leaseUntil: undefined,
  firstStartedAt: undefined,
  startedAt: undefined,
  finishedAt: undefined,
  reason: undefined,
  result: undefined,
  error: undefined,
} as const satisfies Partial<Run>;

export const LOST: NewRunEvent = {
  generation: 0,
  attempt: 1,
  kind: 'lost',
  actor: CLAIM.claimedBy,
  fencingToken: undefined,
  detail: undefined,
};

/** The day that begins at this instant. */
export function dayFrom(start: Date | string): RunPeriod & { readonly periodStart: Date } {
  const periodStart = new Date(start);
  const periodEnd = new Date(periodStart.getTime() + DAY_MS);
  return { periodStart, periodEnd, timeZone: 'Asia/Shanghai' };
}

export function textOf({ job, scope, periodKey }: RunKey): string {
  return `'${job}/${scope}/${periodKey}'`;
}
