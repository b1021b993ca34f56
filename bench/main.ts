/**
 * What the library costs compared with the driver alone: the table of `npm run bench`. With `--only purge`,
 * how long a purge of the ledger takes, and whether claims wait for it. README.md explains how to read both.
 *
 * The table also shows missed goals; the exit status only shows whether there was anything to measure.
 */
import { NotDurableError } from './databases/durability';
import { measure, type Measurement } from './measure';
import { measurePurge } from './purge/measure-purge';
import { reportOf } from './report';
import { startServers } from './servers';
import { parseSettings, USAGE, type Settings } from './settings';

async function main(): Promise<number> {
  const settings = readArguments();
  if (settings === undefined) return 2;
  const servers = await startServers(settings.servers, settings.required);
  try {
    const measurements: Measurement[] = [];
    const purges: string[] = [];
    const missing = [...servers.missing];
    for (const server of servers.running) {
      try {
        if (settings.part === 'purge') purges.push(await measurePurge(server, settings, console.error));
        else measurements.push(await measure(server, settings, console.error));
      } catch (error) {
        if (!(error instanceof NotDurableError)) throw error;
        missing.push({ name: server.name, reasons: [error.message] });
      }
    }
    if (measurements.length > 0) console.log(`\n${reportOf(measurements, settings)}`);
    for (const line of purges) console.log(line);
    for (const { name, reasons } of missing) console.log([`NOT MEASURED: ${name}`, ...reasons].join('\n  '));
    return measurements.length + purges.length > 0 ? 0 : 1;
  } finally {
    await servers.stop();
  }
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
    // A missing server has a complete message; any other error needs its stack.
    console.error(error instanceof Error && error.name === 'MissingServerError' ? error.message : error);
    process.exitCode = 1;
  },
);
