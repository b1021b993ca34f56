import type { SqlResult, SqlStatement, SqlValue } from '../sql/sql-executor';
import { ownPostgresOptions } from './own-data-source-options';
import type { DriverAnswer, DriverSession, ServerDriver } from './server-driver';

/** What is called of a client of pg. */
interface PostgresClient {
  /** Not in the native client. */
  readonly connection?: {
    on(event: 'readyForQuery', listener: (message: { status?: string }) => void): unknown;
    readonly stream: { destroy(): unknown };
  };
  /** Not in older releases. */
  getTransactionStatus?(): string | null;
  on(event: 'error' | 'end', listener: () => void): unknown;
  query(options: { name?: string; text: string; values: readonly SqlValue[] }): Promise<{
    rows: SqlResult['rows'];
    rowCount: number | null;
  }>;
  end(): Promise<void>;
}

/** The server's status when it is in no transaction. */
const IDLE = 'I';

/** The server gives up this long before the client does, where there is as much time. */
const SERVER_FIRST_MS = 500;

export const postgresDriver: ServerDriver = {
  ownOptions: (application, connectTimeoutMs, sockets) =>
    ownPostgresOptions(application, connectTimeoutMs, (given) => sockets.ofPostgres(given)),

  sessionSettings(statementTimeoutMs) {
    const limitMs = Math.ceil(Math.max(statementTimeoutMs - SERVER_FIRST_MS, statementTimeoutMs / 2));
    return [
      `SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
       SET lock_timeout = ${limitMs}; SET statement_timeout = ${limitMs};
       SET idle_in_transaction_session_timeout = ${limitMs}`,
    ];
  },

  checkShared: () => {},

  begin: 'BEGIN ISOLATION LEVEL READ COMMITTED',

  probe: 'SELECT 1',

  idleLimit: {
    begin: (milliseconds) =>
      `SET LOCAL idle_in_transaction_session_timeout = ${Math.max(1, Math.ceil(milliseconds))}`,
    end: undefined,
  },

  session: (connection) => new PostgresSession(connection as PostgresClient),
};

class PostgresSession implements DriverSession {
  #status = IDLE;

  constructor(private readonly client: PostgresClient) {
    if (client.getTransactionStatus !== undefined) return;
    client.connection?.on('readyForQuery', ({ status = IDLE }) => (this.#status = status));
  }

  async send({ id, text, values }: SqlStatement, { prepared }: { prepared: boolean }): Promise<DriverAnswer> {
    const { rows, rowCount } = await this.client.query({ ...(prepared ? { name: id } : {}), text, values });
    const status = this.client.getTransactionStatus?.() ?? this.#status;
    return { rows, affectedRows: rowCount, insertId: undefined, inTransaction: status !== IDLE };
  }

  onEnd(listener: () => void): void {
    this.client.on('error', listener);
    this.client.on('end', listener);
  }

  destroy(): void {
    // The pool drops a client that is ending; a server that went silent would never let it end. How it ends is nobody's matter.
    void this.client.end().catch(() => undefined);
    this.client.connection?.stream.destroy();
  }
}
