import type { ServerName } from './databases';
import { protocolOf, sqlProxy } from './sql-proxy/sql-proxy';
import type { SentStatement } from './sql-proxy/wire';
import { targetOf, throughProxy } from './tcp-proxy';
import type { ServerDatabase } from './test-database';

/** What one application sends, if it takes that way to the database. */
export interface StatementLog {
  readonly url: string;
  /** The statements since the last call, without what MariaDB is told of them first, and without the driver's own. */
  statements(): string[];
  /** All that the server was asked to prepare. */
  preparations(): string[];
  close(): Promise<void>;
}

/**
 * Reads along on the wire. What a server logs is not seen at once everywhere: the rows of MariaDB's `general_log` have
 * come too late for the next SELECT.
 */
export async function statementLog(
  server: ServerName,
  { url }: ServerDatabase<unknown>,
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
