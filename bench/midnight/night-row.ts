import { median } from '../contest/statistics';
import type { Counts } from '../databases/bench-database';
import type { Column, Row } from '../report/table';
import type { Kind } from './crowd';
import type { Tally } from './tally';

/** One night of one contender. */
export interface Night extends Tally {
  readonly counts: Counts;
}

export const NIGHT_COLUMNS: readonly Column[] = [
  { key: 'allRanMs', label: 'all have run after', kind: 'milliseconds' },
  { key: 'allEndedMs', label: 'all ticks ended after', kind: 'milliseconds' },
  { key: 'cpuMs', label: 'processor time of a process', kind: 'milliseconds' },
  { key: 'statements', label: 'statements', kind: 'count' },
  { key: 'commits', label: 'commits', kind: 'count' },
  { key: 'jobsPerProcess', label: 'jobs per process', kind: 'text' },
  { key: 'sooner', label: 'sooner', kind: 'times' },
  { key: 'fewer', label: 'fewer statements', kind: 'times' },
  { key: 'once', label: 'each job once', kind: 'text' },
  { key: 'goal', label: 'goal', kind: 'text' },
  { key: 'verdict', label: '', kind: 'text' },
];

const SOONER = 8;
const FEWER = 20;

/** No process gets more than so many times its share of the jobs. */
const LARGEST_SHARE = 2;

/** A run has one claim and one completion, however many travel together otherwise. */
const STATEMENTS_OF_RUN = 2;

const GOALS: Readonly<Record<Kind, string>> = {
  locks: `≥ ${SOONER} × sooner, ≥ ${FEWER} × fewer, ≤ ${LARGEST_SHARE} × the share`,
  'once-per-day': `≥ ${FEWER} × fewer without claims and completions, ≤ ${LARGEST_SHARE} × the share`,
};

export interface NightsOfRow {
  readonly kind: Kind;
  readonly jobs: number;
  readonly processes: number;
  readonly nights: readonly Night[];
  /** `undefined`: these are the nights of the baseline. */
  readonly baseline: readonly Night[] | undefined;
  readonly hasGoal: boolean;
}

/** A row of the table. The server's commits stand for statements where it does not count those. */
export function nightRow(name: string, of: NightsOfRow): Row {
  const { nights, baseline, kind, jobs, processes, hasGoal } = of;
  const middle = (value: (night: Night) => number | undefined): number | undefined =>
    medianOf(nights.map(value));
  /** Within a night, because the machine may have changed between two nights. */
  const compared = (value: (night: Night) => number | undefined): number | undefined =>
    baseline && medianOf(quotients(baseline.map(value), nights.map(value)));
  const sent = ({ counts }: Night): number => counts.statements ?? counts.commits;
  const [fewest, most] = [Math.min(...nights.map((n) => n.fewest)), Math.max(...nights.map((n) => n.most))];
  const [never, twice] = [sum(nights.map((n) => n.never)), sum(nights.map((n) => n.twice))];
  const failures = sum(nights.map((n) => n.failures.length));
  const sooner = compared(({ allRanMs }) => allRanMs);
  const fewer = compared(sent);
  const fewerOthers =
    kind === 'locks' ? undefined : compared((night) => sent(night) - STATEMENTS_OF_RUN * jobs);
  const isReached =
    never + twice + failures === 0 &&
    most <= (LARGEST_SHARE * jobs) / processes &&
    (kind === 'locks' ? atLeast(SOONER, sooner) && atLeast(FEWER, fewer) : atLeast(FEWER, fewerOthers));
  return {
    name,
    isBaseline: baseline === undefined,
    values: {
      allRanMs: middle(({ allRanMs }) => allRanMs),
      allEndedMs: middle(({ allEndedMs }) => allEndedMs),
      cpuMs: middle(({ cpuMs }) => cpuMs),
      statements: middle(({ counts }) => counts.statements),
      commits: middle(({ counts }) => counts.commits),
      ...{ fewest, most, never, twice, failures, sooner, fewer, fewerOthers },
      jobsPerProcess: `${fewest}–${most}`,
      once:
        never + twice + failures === 0
          ? 'yes'
          : `NO: ${never} never, ${twice} twice, ${failures} failed ticks`,
      ...(hasGoal ? { goal: GOALS[kind], verdict: isReached ? 'reached' : 'missed' } : {}),
    },
  };
}

function atLeast(goal: number, value: number | undefined): boolean {
  return value !== undefined && value >= goal;
}

function quotients(
  numerators: readonly (number | undefined)[],
  denominators: readonly (number | undefined)[],
): (number | undefined)[] {
  return numerators.map((numerator, index) => {
    const denominator = denominators[index];
    return numerator === undefined || denominator === undefined ? undefined : numerator / denominator;
  });
}

/** `undefined` if a value is missing. */
function medianOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length < values.length ? undefined : median(known);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
