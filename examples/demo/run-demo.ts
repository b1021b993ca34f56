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
  writeFileSync(witnessFile, '');
  const day = new Day(new Date());
  const database = guarded ? await DemoDatabase.open(databaseFile) : undefined;
  const crew = new Crew({
    environment: {
      DEMO_DATABASE: `sqlite:${databaseFile}`,
      DEMO_WITNESS_FILE: witnessFile,
      ...(guarded ? { DEMO_DAY: day.at.toISOString() } : {}),
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
      dayFigures: database && countDayFigures(lines, await database.readDay(day)),
    };
  } finally {
    await crew.end();
    database?.close();
    process.stderr.write(crew.output);
  }
}
