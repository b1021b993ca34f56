import type { WitnessLine } from './witness';

export interface CountedTicks {
  /** The first and the last tick to count, in milliseconds since 1970. */
  readonly first: number;
  readonly last: number;
  /** When the lease of the killed run ends, by the database's clock. Left out without a lock. */
  readonly killedLeaseUntil?: number | undefined;
}

export interface Figures {
  /** Scheduled times at which at least one living worker fired. */
  readonly ticks: number;
  /** Ticks with an enter. */
  readonly runs: number;
  /** Ticks without an enter during the killed lease: only these are allowed. */
  readonly skippedAfterKill: number;
  /** Further enters for a tick that already has one. */
  readonly duplicates: number;
  /** Pairs of runs that overlapped. A killed run ends at its kill. */
  readonly overlaps: number;
  /** Unexplained ticks without an enter. */
  readonly lost: readonly number[];
  /** Whether a worker died while its handler ran. */
  readonly killedInsideRun: boolean;
  /** Runs of living workers that never ended. */
  readonly unfinished: number;
  /** The longest delay from a scheduled time to a worker's start, in milliseconds. */
  readonly latestMs: number;
}

interface Run {
  readonly scheduledAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Counts only what the witness file contains. */
export function countFigures(lines: readonly WitnessLine[], counted: CountedTicks): Figures {
  const within = lines.filter(
    ({ scheduledAt }) => scheduledAt >= counted.first && scheduledAt <= counted.last,
  );
  const fired = within.filter(({ event }) => event === 'fired');
  const killed = within.find(({ event }) => event === 'killed');
  const runs = runsIn(within);
  const ticks = new Set(fired.map(({ scheduledAt }) => scheduledAt));
  const ticksWithRun = new Set(runs.map(({ scheduledAt }) => scheduledAt));
  const inKilledLease = (tick: number): boolean =>
    killed !== undefined && tick > killed.scheduledAt && tick <= (counted.killedLeaseUntil ?? -Infinity);
  const withoutRun = [...ticks].filter((tick) => !ticksWithRun.has(tick));
  return {
    ticks: ticks.size,
    runs: ticksWithRun.size,
    skippedAfterKill: withoutRun.filter(inKilledLease).length,
    duplicates: runs.length - ticksWithRun.size,
    overlaps: countOverlaps(runs),
    lost: withoutRun.filter((tick) => !inKilledLease(tick)),
    killedInsideRun: killed !== undefined && isInsideRun(within, killed),
    unfinished: runs.filter(({ endedAt }) => endedAt === Infinity).length,
    latestMs: Math.max(0, ...fired.map(({ at, scheduledAt }) => at - scheduledAt)),
  };
}

function runsIn(lines: readonly WitnessLine[]): Run[] {
  const entered = lines.filter(({ event }) => event === 'enter');
  return entered.map((enter) => {
    const end = lines.find((line) => isEndOf(enter, line));
    return { scheduledAt: enter.scheduledAt, startedAt: enter.at, endedAt: end?.at ?? Infinity };
  });
}

function isEndOf(enter: WitnessLine, { event, worker, scheduledAt }: WitnessLine): boolean {
  return (
    (event === 'exit' || event === 'killed') && worker === enter.worker && scheduledAt === enter.scheduledAt
  );
}

function countOverlaps(runs: readonly Run[]): number {
  const pairs = runs.flatMap((run, index) => runs.slice(index + 1).map((other) => [run, other] as const));
  return pairs.filter(([a, b]) => a.startedAt < b.endedAt && b.startedAt < a.endedAt).length;
}

function isInsideRun(lines: readonly WitnessLine[], killed: WitnessLine): boolean {
  const ofThatRun = lines.filter(
    (line) => line.worker === killed.worker && line.scheduledAt === killed.scheduledAt,
  );
  const events = ofThatRun.map(({ event }) => event);
  return events.includes('enter') && !events.includes('exit');
}
