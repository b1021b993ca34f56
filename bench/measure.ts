import { DataSource, type DataSourceOptions } from 'typeorm';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { alternate } from './alternate';
import { DATABASES } from './databases';
import type { Server } from './databases/bench-database';
import { figuresOf, ratioOf, type Figures } from './figures';
import { ratio } from './format';
import { openLibrary } from './library';
import type { Settings } from './settings';
import { median } from './statistics';

export interface Measurement {
  readonly server: Server;
  readonly durability: string;
  /** Opened by the library. */
  readonly connections: number;
  readonly figures: Figures;
}

export async function measure(
  server: Server,
  { slices, sliceMs }: Settings,
  log: (line: string) => void,
): Promise<Measurement> {
  const open = DATABASES[server.name];
  if (open === undefined) throw new Error(`The bench does not support server '${server.name}'.`);
  await using database = await open(server);
  const { options, durability } = database;
  await migrate(options, 'lock');
  await using library = await openLibrary(options);
  await using baseline = await database.openBaseline();
  const seconds = Math.ceil((slices * 2 * sliceMs) / 1000);
  log(`${server.name} ${server.version}: ${slices} rounds of two slices, ${seconds} s after the warm-up`);
  const rounds = await alternate({
    baseline,
    library,
    rounds: slices,
    sliceMs,
    onRound: (done) => {
      if (isTenth(done.length, slices))
        log(`  ${done.length} of ${slices} rounds: ratio ${ratio(median(done.map(ratioOf)))} so far`);
    },
  });
  const connections = (await database.countConnections()) - 1; // The other one is the baseline's.
  return { server, durability, connections, figures: figuresOf(rounds) };
}

/** Ten lines per server are enough. */
function isTenth(number: number, of: number): boolean {
  return Math.floor((10 * number) / of) > Math.floor((10 * (number - 1)) / of);
}

/** As an application does before it starts. */
export async function migrate(options: DataSourceOptions, tables: 'lock' | 'ledger'): Promise<void> {
  const migrations = [createCronlatchMigration({ tables: tables === 'lock' ? ['lock'] : ['ledger'] })];
  const dataSource = new DataSource({ ...options, migrations });
  await dataSource.initialize();
  try {
    await dataSource.runMigrations();
  } finally {
    await dataSource.destroy();
  }
}
