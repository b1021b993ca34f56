import { parsePositiveDuration, type Duration } from '../../core/duration';
import { checkCount, refusePolicy, type PolicySubject } from './policy-subject';

/** Which of the periods that nobody ran are run later. `'none'`: they stay gaps. */
export type CatchUp = 'none' | 'latest' | 'all';

export interface CatchUpOptions {
  /**
   * `'latest'` runs the newest only and records the others as missed. Default `'none'`. Of a key function nobody knows
   * which periods were missed; for one, `'all'` says that a tick that could not be answered, for the lock was held or
   * the store away, is run also when its period is over, by a process that heard it; and there is no `'latest'`.
   */
  readonly catchUp?: CatchUp | undefined;
  /** How far back: a period that ended longer ago stays a gap, as does a tick of a key function. Default 7 days. */
  readonly catchUpWindow?: Duration | undefined;
  /** With `'all'`: how many are run at most, the newest; the others are recorded as missed. Default 31. */
  readonly catchUpLimit?: number | undefined;
}

/** Checked options. */
export interface CatchUpPolicy {
  readonly catchUp: CatchUp;
  readonly windowMs: number;
  readonly limit: number;
}

const POLICIES: readonly string[] = ['none', 'latest', 'all'] satisfies CatchUp[];
const MOST_RUNS = 1000;

/** @throws InvalidLockConfigurationError naming the option and its value */
export function parseCatchUpPolicy(
  options: CatchUpOptions,
  { of, customKeys }: PolicySubject,
): CatchUpPolicy {
  const { catchUp = 'none', catchUpWindow = '7d', catchUpLimit = 31 } = options;
  if (!POLICIES.includes(catchUp))
    refusePolicy(`catchUp ${of}`, catchUp, `it must be 'none', 'latest' or 'all'`);
  if (customKeys && catchUp === 'latest')
    refusePolicy(
      `catchUp ${of}`,
      catchUp,
      'the periods of a key function have no order, so none is the latest',
    );
  return {
    catchUp,
    windowMs: parsePositiveDuration(catchUpWindow, `catchUpWindow ${of}`),
    limit: checkCount(catchUpLimit, MOST_RUNS, `catchUpLimit ${of}`),
  };
}
