import type { SqlResult, SqlStatement, SqlValue } from '../sql/connections/sql-executor';
import { ownPostgresOptions } from './own-data-source-options';
import type { DriverAnswer, DriverSession, ServerDriver, TransactionWatch } from './server-driver';

/** The protocol of a client of pg. */
interface PostgresConnection {
  on(event: 'readyForQuery' | 'commandComplete', listener: (message: PostgresMessage) => void): unknown;
  off(event: 'readyForQuery' | 'commandComplete', listener: (message: PostgresMessage) => void): unknown;
  readonly stream: { destroy(): unknown };
}

interface PostgresMessage {
  /** Whether the session is in a transaction. */
  readonly status?: string;
  /** What the server has done, which is `ROLLBACK` for a COMMIT after a statement that failed. */
  readonly text?: string;
}

/** What is called of a client of pg. */
interface PostgresClient {
  /** Not in the native client. */
  readonly connection?: PostgresConnection;
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

  poolSizeKey: 'max',

  begin: 'BEGIN ISOLATION LEVEL READ COMMITTED',

  commit: 'COMMIT',

  rollBack: 'ROLLBACK',

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

  watchEnd(): TransactionWatch {
    const { connection } = this.client;
    let lastDone: string | undefined;
    let endedBy: string | undefined;
    const done = ({ text }: PostgresMessage): void => void (lastDone = text);
    const ready = ({ status }: PostgresMessage): void => {
      if (status === IDLE) endedBy ??= lastDone;
    };
    connection?.on('commandComplete', done);
    connection?.on('readyForQuery', ready);
    return {
      isCommitted: () => (endedBy === undefined ? undefined : endedBy === 'COMMIT'),
      stop() {
        connection?.off('commandComplete', done);
        connection?.off('readyForQuery', ready);
      },
    };
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
