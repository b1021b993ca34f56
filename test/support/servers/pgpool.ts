import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A PostgreSQL server, and Pgpool-II before it and before a standby of it, which answers plain SELECTs. */
export interface SplitServer {
  /** Of Pgpool-II. */
  readonly url: string;
  /** Of the server itself. */
  readonly primary: string;
  stop(): Promise<void>;
}

interface Servers {
  startPgpool(options: { log: (line: string) => void }): Promise<SplitServer>;
}

/** `undefined` if this machine cannot get it. */
export async function pgpoolServer(): Promise<SplitServer | undefined> {
  const servers = (await import(pathToFileURL(resolve('test/support/servers/index.mjs')).href)) as Servers;
  try {
    return await servers.startPgpool({ log: () => {} });
  } catch (error) {
    if ((error as Error).name !== 'MissingServerError') throw error;
    return undefined;
  }
}
