import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A server that only one test uses, and may damage. */
export interface OwnServer {
  readonly url: string;
  readonly version: string;
  kill(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Servers {
  startServer(name: string, options: { log: (line: string) => void }): Promise<OwnServer>;
}

export async function ownServer(name: string): Promise<OwnServer> {
  const servers = (await import(pathToFileURL(resolve('test/support/servers/index.mjs')).href)) as Servers;
  return await servers.startServer(name, { log: () => {} });
}
