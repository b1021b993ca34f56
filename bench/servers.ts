import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Server } from './databases/bench-database';
import { SQLITE_SERVER } from './databases/sqlite';

export interface Servers {
  readonly running: readonly Server[];
  /** The unavailable servers, with the reason from each step of the search. */
  readonly missing: readonly { readonly name: string; readonly reasons: readonly string[] }[];
  readonly stop: () => Promise<void>;
}

interface TestServers {
  readonly startServers: (names: readonly string[]) => Promise<Servers>;
}

/** The private servers that the tests also use. They end with this process, however it ends. */
export async function startServers(names: readonly string[]): Promise<Servers> {
  const file = pathToFileURL(resolve('test/support/servers/index.mjs'));
  const { startServers: start } = (await import(file.href)) as TestServers;
  // One by one, because a server that the environment names and that is not usable would stop the others.
  const started = await Promise.all(names.map((name) => startOne(start, name)));
  return {
    running: started.flatMap(({ running }) => running),
    missing: started.flatMap(({ missing }) => missing),
    stop: async () => void (await Promise.all(started.map(({ stop }) => stop()))),
  };
}

async function startOne(start: TestServers['startServers'], name: string): Promise<Servers> {
  const none = { running: [], missing: [], stop: () => Promise.resolve() };
  if (name === SQLITE_SERVER.name) return { ...none, running: [SQLITE_SERVER] };
  try {
    return await start([name]);
  } catch (error) {
    return {
      ...none,
      missing: [{ name, reasons: [error instanceof Error ? error.message : String(error)] }],
    };
  }
}
