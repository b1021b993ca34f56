import type { Goal } from './contender';
import type { Figures } from './figures';

export type Verdict = 'reached' | 'below the goal' | 'missed' | 'unsettled';

/**
 * If half of the rounds differ by more than this share of their median, the machine is busy and the result is
 * meaningless.
 */
const WIDEST_SPREAD = 0.2;

/** A missed goal is a finding, not a failure. Without a goal, a result can still be unsettled. */
export function judge(
  { ratio, lowerQuartile, upperQuartile }: Pick<Figures, 'ratio' | 'lowerQuartile' | 'upperQuartile'>,
  goal: Goal | undefined,
): Verdict | undefined {
  if (!(upperQuartile - lowerQuartile <= WIDEST_SPREAD * ratio)) return 'unsettled';
  if (goal === undefined) return undefined;
  return ratio >= goal.ratio ? 'reached' : 'below the goal';
}

/** One pair at a time, by the server's name. */
export const ONE_AT_A_TIME: Readonly<Record<string, Goal>> = {
  mysql: { ratio: 0.97 },
  mariadb: { ratio: 0.97 },
  postgres: { ratio: 0.95 },
};

/** Many workers, on the two connections of a guard, compared with the driver on sixteen connections. */
export const GROUPED: Goal = { ratio: 1.5 };

/** The guard without grouping, compared with the driver on one connection. */
export const UNGROUPED: Goal = { ratio: 0.97 };
