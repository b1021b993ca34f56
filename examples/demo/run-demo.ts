import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Crew } from './crew';
import { Day } from './day';
import { countDayFigures, type DayFigures } from './day-figures';
import { DemoDatabase } from './demo-database';
import { countFigures, type Figures } from './figures';
import { readLines } from './witness';
import { watchTicks } from './watch-ticks';

export interface DemoOptions {
  readonly guarded: boolean;
  /** For the witness file and the embedded database. */
  readonly folder: string;
  /** Aborting it ends the demo with its reason. */
  readonly stop: AbortController;
}

export interface DemoResult {
  readonly figures: Figures;
  /** Without the guard there is no job of the day. */
  readonly dayFigures: DayFigures | undefined;
}

/**
 * Starts the workers, watches their ticks, kills two of them, and counts the events in the witness file and
 * the ledger.
 */
export async function runDemo({ guarded, folder, stop }: DemoOptions): Promise<DemoResult> {
  const witnessFile = join(folder, 'witness.txt');
  const databaseFile = join(folder, 'demo.sqlite');
  // A unique name, so that two demos on one server do not interfere.
  const lockName = `demo-${randomBytes(4).toString('hex')}`;
  writeFileSync(witnessFile, '');
  const day = new Day(lockName, new Date());
  const database = guarded ? await DemoDatabase.open(databaseFile, { lockName, day }) : undefined;
  const crew = new Crew({
    environment: {
      DATABASE_FILE: databaseFile,
      DEMO_WITNESS_FILE: witnessFile,
      ...(guarded ? { DEMO_LOCK_NAME: lockName, DEMO_DAY: day.at.toISOString() } : {}),
    },
    onDeath: (error) => stop.abort(error),
  });
  try {
    await crew.ready(stop.signal);
    const counted = await watchTicks({ crew, witnessFile, database, day: database && day }, stop);
    await crew.stop();
    const lines = readLines(witnessFile);
    return {
      figures: countFigures(lines, counted),
      dayFigures: database && countDayFigures(lines, await database.readDay()),
    };
  } finally {
    await crew.end();
    await database?.close();
    process.stderr.write(crew.output);
  }
}
