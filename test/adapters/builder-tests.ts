import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import type { AdaptedTransaction } from 'cronlatch/pg';
import { SERVER_NAMES, type ServerName } from '../support/databases/fresh';
import { testCompletions } from '../support/transaction-contract/completing';

/** A transaction of a query builder, with the statements that the tests send in it. */
export interface BuilderTransaction {
  readonly adapted: AdaptedTransaction;
  insert(id: number, text: string): Promise<unknown>;
  /** Ends the transaction without the knowledge of the query builder. */
  commitBehind(): Promise<unknown>;
}

/** A query builder that is connected to one database. */
export interface Builder {
  transaction(work: (transaction: BuilderTransaction) => Promise<void>): Promise<unknown>;
  /** The query builder itself, in place of a transaction. */
  readonly outside: AdaptedTransaction;
  close(): Promise<unknown>;
}

/** The cases of one query builder, on each of the servers. */
export function testBuilder(
  name: string,
  open: (url: string, server: ServerName) => Builder,
  on: readonly ServerName[] = SERVER_NAMES,
): void {
  testCompletions(
    name,
    ({ kind, url }) => {
      const builder = open(url, kind as ServerName);
      const dialect = kind === 'postgres' ? 'postgres' : 'mysql'; // The page has that of PostgreSQL.
      const { completeRunIn, createJobGuard } = kind === 'postgres' ? pgDriver : mysqlDriver;
      return Promise.resolve({
        createJobGuard: (options) => createJobGuard(url, options),
        transaction: (work) =>
          builder.transaction(({ adapted, ...statements }) =>
            work({ ...statements, complete: (options) => completeRunIn({ ...adapted, dialect }, options) }),
          ),
        completeOutside: () => completeRunIn({ ...builder.outside, dialect }),
        close: () => builder.close(),
      });
    },
    { on },
  );
}
