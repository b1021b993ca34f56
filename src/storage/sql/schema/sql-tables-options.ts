import type { SqlDialect } from '../sql-dialect';
import type { SqlExecutor } from '../connections/sql-executor';

/** What the statements on any of the library's tables need. */
export interface SqlTablesOptions {
  readonly executor: SqlExecutor;
  readonly dialect: SqlDialect;
  /** The database that the connections begin in, if the DataSource names it. */
  readonly database: string | undefined;
  /** Names the database in errors, without credentials. */
  readonly address: string;
  /** Takes secrets out of a driver's message. */
  readonly redact: (message: string) => string;
  /** The sessions are the application's, with the time zone and the strictness that it has given them. */
  readonly sharesSessions: boolean;
  /** Told once of what works, but within a limit. */
  readonly warn: (message: string) => void;
}
