import type { Crew } from './crew';
import type { Day } from './day';
import type { DemoDatabase } from './demo-database';
import { appendLine, readLines, type LineOf, type TickEvent, type WitnessLine } from './witness';

export interface Scene {
  readonly crew: Crew;
  readonly witnessFile: string;
  /** Left out without a lock, because the run then leaves no lease behind. */
  readonly database: DemoDatabase | undefined;
  /** Left out with the database. */
  readonly day: Day | undefined;
}

export interface Kill {
  readonly line: LineOf<'killed'>;
  /** When the lease of the killed run ends, by the database's clock. */
  readonly leaseUntil: number | undefined;
}

/**
 * Kills the worker that has just entered its handler. Returns `undefined` if the worker has left it already.
 *
 * @throws Error if the lease in the database is not the killed worker's
 */
export async function killInsideRun(
  enter: LineOf<TickEvent>,
  { crew, witnessFile, database }: Scene,
): Promise<Kill | undefined> {
  // The worker's message may be late. Nothing is awaited between this check and the kill.
  if (readLines(witnessFile).some((line) => line.event === 'exit' && isSameRun(line, enter)))
    return undefined;
  const pid = await crew.kill(enter.worker);
  const line: LineOf<'killed'> = { ...enter, event: 'killed', at: Date.now() };
  appendLine(witnessFile, line);
  if (database === undefined) return { line, leaseUntil: undefined };
  const { lockedBy, until } = database.readLease();
  if (lockedBy.includes(`/${pid}/`)) return { line, leaseUntil: until };
  throw new Error(
    `The lease belongs to '${lockedBy}', not to ${enter.worker}, which was killed in its run (process ${pid}).`,
  );
}

function isSameRun(a: WitnessLine, b: WitnessLine): boolean {
  return a.worker === b.worker && a.scheduledAt === b.scheduledAt;
}
