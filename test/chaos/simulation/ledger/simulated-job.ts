import type { GuardConfiguration, OncePerConfiguration } from 'cronlatch';
import { periodAt, type CalendarPeriod } from 'cronlatch/calendar';
import type { Random } from '#cronlatch/contracts/random';
import type { KnownJob } from '../../history/ledger/ledger-history';

/** A job as all hosts know it. */
export interface SimulatedJob extends KnownJob {
  readonly configuration: GuardConfiguration & { readonly oncePer: OncePerConfiguration };
  /** A job without scopes has one, the empty text. */
  readonly scopes: readonly string[];
}

const SLICE_MS = 5000;

/** Two jobs, with a lock each or with one shared lock. */
export function jobsBy(random: Random): readonly SimulatedJob[] {
  const isShared = random.integer(1, 4) === 1;
  return ['one', 'two'].map((job) => {
    const lockAtMostFor = random.pick([300, 900, 3000]);
    const kind = random.pick(['hour', 'day', sliceOf] as const);
    const isDated = typeof kind === 'string';
    const until = random.pick([undefined, undefined, 5000]);
    const catchUp = isDated ? random.pick(['none', 'latest', 'all'] as const) : 'none';
    const isDivided = random.integer(1, 4) === 1;
    const maxAttempts = random.pick([1, 2, 3, 8]);
    const onCrash = random.pick(['retry', 'retry', 'retry', 'hold'] as const);
    const lockName = isShared ? 'both' : job;
    const configuration = {
      name: lockName,
      shared: isShared,
      lockAtMostFor,
      lockAtLeastFor: random.pick([0, 0, 0, lockAtMostFor / 3]),
      ...random.pick([{}, { keepAlive: true, maxLockDuration: 2 * lockAtMostFor }]),
      oncePer: {
        name: job,
        period: kind,
        timeZone: 'UTC',
        onCrash,
        retry: {
          maxAttempts,
          initialDelay: random.pick([0, 200, 1000]),
          factor: random.pick([1, 2]),
          maxDelay: 4000,
          until,
        },
        catchUp,
        ...(isDivided
          ? {
              scope: (scope: string) => scope,
              resume: (run: { readonly scope: string }): readonly unknown[] => [run.scope],
            }
          : {}),
      },
    };
    return {
      ...{ job, lockName, maxAttempts, onCrash, hasUntil: until !== undefined, configuration },
      periodAt: isDated ? (at): CalendarPeriod => periodAt(at, { kind, timeZone: 'UTC' }) : undefined,
      catchesUp: catchUp !== 'none' && !isDivided,
      scopes: isDivided ? ['east', 'west'] : [''],
    };
  });
}

function sliceOf(at: Date): string {
  return `slice-${Math.floor(at.getTime() / SLICE_MS)}`;
}
