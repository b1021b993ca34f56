import type { Figures } from './figures';

export interface Goal {
  /** The least ratio to the baseline. */
  readonly ratio: number;
  /** What is to be reached with further work. */
  readonly later: string;
}

export type Verdict = 'reached' | 'below the goal' | 'unsettled';

/** Rounds that lie further apart than this share of their median say more about the machine than about the library. */
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
