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
  const { running, missing, stop } = await start(names.filter((name) => name !== SQLITE_SERVER.name));
  return {
    running: names.includes(SQLITE_SERVER.name) ? [...running, SQLITE_SERVER] : running,
    missing,
    stop,
  };
}
