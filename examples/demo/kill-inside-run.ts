import type { Crew } from './crew';
import type { Day } from './day';
import type { DemoDatabase } from './demo-database';
import { appendLine, readLines, type LineOf, type TickEvent, type WitnessLine } from './witness';

export interface Scene {
  readonly crew: Crew;
  readonly witnessFile: string;
  /** Left out: there is no lock whose lease the run could leave behind. */
  readonly database: DemoDatabase | undefined;
  /** Left out with the database. */
  readonly day: Day | undefined;
}

export interface Kill {
  readonly line: LineOf<'killed'>;
  /** When the lease that the run left behind ends, by the database's word. */
  readonly leaseUntil: number | undefined;
}

/**
 * Kills the worker that has just entered its handler, unless it has left by now: then `undefined`.
 *
 * @throws Error when the lease in the database is not the killed worker's
 */
export async function killInsideRun(
  enter: LineOf<TickEvent>,
  { crew, witnessFile, database }: Scene,
): Promise<Kill | undefined> {
  // The worker's message may have come late. Between this look and the kill nothing is awaited.
  if (readLines(witnessFile).some((line) => line.event === 'exit' && isSameRun(line, enter)))
    return undefined;
  const pid = await crew.kill(enter.worker);
  const line: LineOf<'killed'> = { ...enter, event: 'killed', at: Date.now() };
  appendLine(witnessFile, line);
  if (database === undefined) return { line, leaseUntil: undefined };
  const { lockedBy, until } = await database.readLease();
  if (lockedBy.includes(`/${pid}/`)) return { line, leaseUntil: until };
  throw new Error(
    `The lease belongs to '${lockedBy}', not to ${enter.worker}, which was killed in its run (process ${pid}).`,
  );
}

function isSameRun(a: WitnessLine, b: WitnessLine): boolean {
  return a.worker === b.worker && a.scheduledAt === b.scheduledAt;
}
