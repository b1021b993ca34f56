import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Crew } from './crew';
import { DemoDatabase } from './demo-database';
import { countFigures, type Figures } from './figures';
import { readLines } from './witness';
import { watchTicks } from './watch-ticks';

export interface DemoOptions {
  readonly guarded: boolean;
  /** For the witness file and the embedded database. */
  readonly folder: string;
  /** Aborting it ends the demo, with its reason. */
  readonly stop: AbortController;
}

/** Starts the workers, watches their ticks, kills one on the way, and counts what the witness file says. */
export async function runDemo({ guarded, folder, stop }: DemoOptions): Promise<Figures> {
  const witnessFile = join(folder, 'witness.txt');
  const databaseFile = join(folder, 'demo.sqlite');
  // A name of its own: two demos on one server never meet.
  const lockName = `demo-${randomBytes(4).toString('hex')}`;
  writeFileSync(witnessFile, '');
  const database = guarded ? await DemoDatabase.open(databaseFile, lockName) : undefined;
  const crew = new Crew({
    environment: {
      DATABASE_FILE: databaseFile,
      DEMO_WITNESS_FILE: witnessFile,
      ...(guarded ? { DEMO_LOCK_NAME: lockName } : {}),
    },
    onDeath: (error) => stop.abort(error),
  });
  try {
    await crew.ready(stop.signal);
    const counted = await watchTicks({ crew, witnessFile, database }, stop);
    await crew.stop();
    return countFigures(readLines(witnessFile), counted);
  } finally {
    await crew.end();
    await database?.close();
    process.stderr.write(crew.output);
  }
}
