/**
 * What the library costs compared with the driver alone: the tables of `npm run bench`. README.md explains how to
 * read them.
 *
 * The tables also show missed goals; the exit status only shows whether there was anything to measure.
 */
import { measureLocks } from './contest/locks';
import type { Ground } from './contest/contest';
import { measureDashboard } from './dashboard/measure-dashboard';
import { openDatabase } from './databases';
import type { BenchPlace, Server } from './databases/bench-database';
import { measureMidnight } from './midnight/measure-midnight';
import { measureOverhead } from './overhead/measure-overhead';
import { measurePurge } from './purge/measure-purge';
import { measureRedisLocks } from './redis/measure-redis';
import { openRedis } from './redis/redis-server';
import { endOf, jsonOf, type Missing, type Outcome } from './report/outcome';
import { surroundings, type MeasuredServer } from './report/surroundings';
import { textOf, type Table } from './report/table';
import { writeReport } from './report/write-report';
import { startServers, type Servers } from './servers';
import { measureScale } from './scale/measure-scale';
import { measureStart } from './start/measure-start';
import { measureTorture } from './torture/measure-torture';
import { hasPart, parseSettings, USAGE, type Part, type Settings } from './settings';

const log = (line: string): void => console.error(line);

/** How each part measures a new database. */
const MEASURES: Readonly<Record<Part, (settings: Settings, ground: Ground) => Promise<readonly Table[]>>> = {
  locks: measureLocks,
  overhead: measureOverhead,
  start: measureStart,
  midnight: measureMidnight,
  scale: measureScale,
  dashboard: measureDashboard,
  torture: measureTorture,
  purge: async ({ rows }, ground) => [await measurePurge(rows, ground)],
};

async function main(): Promise<number> {
  const settings = readArguments();
  if (settings === undefined) return 2;
  const servers = await startServers(settings.servers);
  try {
    const outcome = await measureAll(settings, servers);
    console.log(settings.json ? jsonOf(outcome) : endOf(outcome));
    if (settings.report !== undefined) await writeReport(settings.report, outcome);
    return outcome.tables.length > 0 ? 0 : 1;
  } finally {
    await servers.stop();
  }
}

/** One part after the other, so that a quick run measures the first ones on every server. */
async function measureAll(settings: Settings, servers: Servers): Promise<Outcome> {
  const tables: Table[] = [];
  const missing: Missing[] = [...servers.missing];
  const measured = new Map<string, MeasuredServer>();
  for (const part of settings.parts)
    for (const server of servers.running) {
      if (!hasPart(server.name, part)) continue;
      const name = `${server.name}, part ${part}`;
      if (performance.now() > settings.longestMs) {
        missing.push({ name, reasons: ['the time of --quick had ended'] });
        continue;
      }
      try {
        const found = await measureOne(part, server, settings, ({ durability }) =>
          measured.set(server.name, { ...server, durability }),
        );
        tables.push(...found);
        if (!settings.json) for (const table of found) console.log(`${textOf(table)}\n`);
      } catch (error) {
        // The other parts and servers are still measured.
        missing.push({ name, reasons: [reasonOf(error)] });
      }
    }
  return { surroundings: surroundings([...measured.values()]), tables, missing };
}

async function measureOne(
  part: Part,
  server: Server,
  settings: Settings,
  onOpen: (place: BenchPlace) => void,
): Promise<readonly Table[]> {
  if (server.name === 'redis') {
    await using database = await openRedis(server);
    onOpen(database);
    return await measureRedisLocks(settings, { server, database, log });
  }
  await using database = await openDatabase(server);
  onOpen(database);
  return await MEASURES[part](settings, { server, database, log });
}

/** A server with other settings has a complete message; any other error needs its stack. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'NotDurableError' ? error.message : (error.stack ?? error.message);
}

function readArguments(): Settings | undefined {
  try {
    return parseSettings(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return undefined;
  }
}

main().then(
  (status) => (process.exitCode = status),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
