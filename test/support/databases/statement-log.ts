import { protocolOf, sqlProxy } from '../faults/sql-proxy/sql-proxy';
import type { SentStatement } from '../faults/sql-proxy/wire';
import { targetOf, throughProxy } from '../faults/tcp-proxy';
import type { ServerName } from './fresh';
import type { ServerDatabase } from './types';

/** The statements that one application sends, if it connects through this proxy. */
export interface StatementLog {
  readonly url: string;
  /**
   * The statements since the last call, without those of MariaDB's session set-up, and without the driver's
   * own.
   */
  statements(): string[];
  /** The statements that the server was asked to prepare. */
  preparations(): string[];
  close(): Promise<void>;
}

/**
 * Reads the traffic. A server's own log is not always visible at once: the rows of MariaDB's `general_log`
 * sometimes came too late for the next SELECT.
 */
export async function statementLog(
  server: ServerName,
  { url }: Pick<ServerDatabase<unknown>, 'url'>,
): Promise<StatementLog> {
  const sent: SentStatement[] = [];
  const proxy = await sqlProxy(targetOf(url), protocolOf(server), {
    listen: (statement) => sent.push(statement),
  });
  const texts = (wanted: { isPreparation: boolean }): string[] =>
    sent.filter((each) => each.isPreparation === wanted.isPreparation).map(({ text }) => text);
  let seen = 0;
  return {
    url: throughProxy(url, proxy),
    statements: () => {
      const all = texts({ isPreparation: false });
      return all.slice(seen, (seen = all.length)).map((text) => text.replace(/^\/\*M!.*?\*\/ /, ''));
    },
    preparations: () => texts({ isPreparation: true }),
    close: () => proxy.close(),
  };
}
