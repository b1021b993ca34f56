import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OwnServer } from './own';

interface Servers {
  startPgbouncer(
    target: { readonly url: string; readonly mode: 'transaction' | 'statement' },
    options: { log: (line: string) => void },
  ): Promise<OwnServer>;
}

/** PgBouncer in front of this PostgreSQL server. `undefined` if this machine cannot get it. */
export async function pgbouncerBefore(
  url: string,
  mode: 'transaction' | 'statement',
): Promise<OwnServer | undefined> {
  const servers = (await import(pathToFileURL(resolve('test/support/servers/index.mjs')).href)) as Servers;
  try {
    return await servers.startPgbouncer({ url, mode }, { log: () => {} });
  } catch (error) {
    if ((error as Error).name !== 'MissingServerError') throw error;
    return undefined;
  }
}
