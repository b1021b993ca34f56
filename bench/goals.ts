import type { Figures } from './figures';

export interface Goal {
  /** The smallest intended ratio to the baseline. */
  readonly ratio: number;
  /** The goal for later work. */
  readonly later: string;
}

export type Verdict = 'reached' | 'below the goal' | 'unsettled';

/**
 * If half of the rounds differ by more than this share of their median, the machine is busy and the result is
 * meaningless.
 */
const WIDEST_SPREAD = 0.2;

/** A missed goal is a finding, not a failure. */
export function judge({ ratio, lowerQuartile, upperQuartile }: Figures, goal: Goal): Verdict {
  if (upperQuartile - lowerQuartile > WIDEST_SPREAD * ratio) return 'unsettled';
  return ratio >= goal.ratio ? 'reached' : 'below the goal';
}

/** By the server's name. */
export const GOALS: Readonly<Record<string, Goal>> = {
  mysql: { ratio: 0.9, later: '≥ 0.97' },
  mariadb: { ratio: 0.9, later: '≥ 0.97' },
  postgres: { ratio: 0.9, later: '≥ 0.95' },
};
