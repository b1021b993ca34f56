import type { SqlResult, SqlStatement, SqlValue } from '../sql/connections/sql-executor';
import type {
  DriverAnswer,
  DriverSession,
  ServerDriver,
  TransactionWatch,
} from '../sql/connections/server-driver';
import { postgres } from '../sql/dialects/postgres';

/** The protocol connection of a pg client. */
interface PostgresConnection {
  on(event: 'readyForQuery' | 'commandComplete', listener: (message: PostgresMessage) => void): unknown;
  off(event: 'readyForQuery' | 'commandComplete', listener: (message: PostgresMessage) => void): unknown;
  readonly stream: { destroy(): unknown };
}

interface PostgresMessage {
  /** `I` if the session is in no transaction. */
  readonly status?: string;
  /** The command that the server executed: `ROLLBACK` for a COMMIT after a failed statement. */
  readonly text?: string;
}

/** The methods of a pg client that cronlatch calls. */
export interface PostgresClient {
  /** Not in the native client. */
  readonly connection?: PostgresConnection;
  /** Not in the native client. */
  readonly processID?: number | null;
  /** Not in older releases. */
  getTransactionStatus?(): string | null;
  on(event: 'error' | 'end', listener: () => void): unknown;
  query(options: { name: string | undefined; text: string; values: readonly SqlValue[] }): Promise<{
    rows: SqlResult['rows'];
    rowCount: number | null;
  }>;
  connect(): Promise<unknown>;
  end(): Promise<void>;
}

/** The status of a session that is in no transaction. */
const IDLE = 'I';

const READ_ONLY = `current_setting('transaction_read_only')`;

/** The server's timeout ends this long before the client's, or at half of a short one. */
const SERVER_HEAD_START_MS = 500;

export const postgresDriver: ServerDriver = {
  dialect: postgres,

  readOnly: READ_ONLY,

  variables: `SELECT pg_backend_pid() AS session_id, ${READ_ONLY} AS is_read_only`,

  sessionSettings(statementTimeoutMs) {
    const limitMs = Math.ceil(Math.max(statementTimeoutMs - SERVER_HEAD_START_MS, statementTimeoutMs / 2));
    return [
      `SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
       SET lock_timeout = ${limitMs}; SET statement_timeout = ${limitMs};
       SET idle_in_transaction_session_timeout = ${limitMs}`,
    ];
  },

  begin: 'BEGIN ISOLATION LEVEL READ COMMITTED',

  beginAt: (isolationLevel) => [
    isolationLevel === undefined ? 'BEGIN' : `BEGIN ISOLATION LEVEL ${isolationLevel}`,
  ],

  commit: 'COMMIT',

  rollBack: 'ROLLBACK',

  probe: 'SELECT 1',

  idleLimit: {
    begin: (milliseconds) =>
      `SET LOCAL idle_in_transaction_session_timeout = ${Math.max(1, Math.ceil(milliseconds))}`,
    end: undefined,
  },

  rowLock: {
    // A pooler can give the session to other clients.
    session: () => [],
    begin: ({ statementTimeoutMs, idleMs, waitMs }) =>
      `BEGIN ISOLATION LEVEL READ COMMITTED;
       SET LOCAL idle_in_transaction_session_timeout = ${idleMs};
       SET LOCAL lock_timeout = ${Math.ceil(waitMs || statementTimeoutMs)};
       SET LOCAL statement_timeout = ${Math.ceil(waitMs + statementTimeoutMs)};
       SELECT set_config('transaction_timeout', '0', true) WHERE current_setting('transaction_timeout', true) IS NOT NULL`,
  },
};

/** Whether pg has made the error, or the server, or the socket. pg's own errors have no code. */
export function isPostgresError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isOfClient = /^(Connection terminated|Client (was closed|has encountered a connection error))/;
  return 'severity' in error || 'syscall' in error || isOfClient.test(error.message);
}

/** By client: a pool lends the same one many times. */
const sessions = new WeakMap<PostgresClient, PostgresSession>();

export function postgresSessionOf(client: PostgresClient): DriverSession {
  const session = sessions.get(client) ?? new PostgresSession(client);
  sessions.set(client, session);
  return session;
}

class PostgresSession implements DriverSession {
  #status = IDLE;

  constructor(private readonly client: PostgresClient) {
    if (client.getTransactionStatus !== undefined) return;
    client.connection?.on('readyForQuery', ({ status = IDLE }) => (this.#status = status));
  }

  get id(): number | null | undefined {
    return this.client.processID;
  }

  send({ id, text, values }: SqlStatement, { prepared }: { prepared: boolean }): Promise<DriverAnswer> {
    const sent = this.client.query({ name: prepared ? id : undefined, text, values });
    return sent.then(({ rows, rowCount }) => {
      const status = this.client.getTransactionStatus?.() ?? this.#status;
      return { rows, affectedRows: rowCount, insertId: undefined, inTransaction: status !== IDLE };
    });
  }

  watchEnd(): TransactionWatch {
    const { connection } = this.client;
    let lastCommand: string | undefined;
    let endedBy: string | undefined;
    const onCommand = ({ text }: PostgresMessage): void => void (lastCommand = text);
    const onReady = ({ status }: PostgresMessage): void => {
      if (status === IDLE) endedBy ??= lastCommand;
    };
    connection?.on('commandComplete', onCommand);
    connection?.on('readyForQuery', onReady);
    return {
      isCommitted: () => (endedBy === undefined ? undefined : endedBy === 'COMMIT'),
      stop() {
        connection?.off('commandComplete', onCommand);
        connection?.off('readyForQuery', onReady);
      },
    };
  }

  onEnd(listener: () => void): void {
    this.client.on('error', listener);
    this.client.on('end', listener);
  }

  end(): void {
    void this.client.end().catch(() => undefined);
  }

  destroy(): void {
    // `end` makes the pool drop the client, and its error does not matter. The socket is destroyed too, because a server
    // that does not answer would never end it.
    void this.client.end().catch(() => undefined);
    this.client.connection?.stream.destroy();
  }
}
