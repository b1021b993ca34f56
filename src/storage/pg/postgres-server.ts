import { refuseOption } from '../../core/options';
import type {
  DriverSession,
  OpeningSession,
  ServerDriver,
  TransactionWatch,
} from '../sql/connections/server-driver';
import type { SqlResult, SqlRow, SqlStatement, SqlValue } from '../sql/statements/statement';
import { readAddress, type DriverOptions } from '../sql/database/driver';
import {
  serverDatabase,
  type PasswordSource,
  type ServerAddress,
  type SqlDatabase,
} from '../sql/connections/sql-database';
import { postgres } from '../sql/dialects/postgres';
import { refuseOtherSchema } from '../sql/schema/tables';

interface PostgresMessage {
  /** `I` if the session is in no transaction. */
  readonly status?: string;
  /** The command that the server executed: `ROLLBACK` for a COMMIT after a failed statement. */
  readonly text?: string;
}

export interface PostgresClient {
  /** The connection of the protocol. Not in the native client. */
  readonly connection?: {
    on(event: 'readyForQuery' | 'commandComplete', listener: (message: PostgresMessage) => void): unknown;
    off(event: 'readyForQuery' | 'commandComplete', listener: (message: PostgresMessage) => void): unknown;
    readonly stream: { destroy(): unknown };
  };
  /** The native client reads the password here. */
  readonly connectionParameters?: object;
  /** Not in the native client. */
  readonly processID?: number | null;
  /** Not in older releases. */
  getTransactionStatus?(): string | null;
  on(event: 'error' | 'end', listener: () => void): unknown;
  query(options: {
    name: string | undefined;
    text: string;
    values: readonly SqlValue[];
    types?: PostgresTypes;
  }): Promise<{ rows: readonly SqlRow[]; rowCount: number | null }>;
  connect(): Promise<unknown>;
  end(): Promise<void>;
}

interface PostgresTypes {
  readonly getTypeParser: (oid: number, format: string) => (value: never) => unknown;
}

/** By the ids of the types: bool, int8, int2, int4, json. The application can have given pg other parsers. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't',
  21: Number,
  23: Number,
  114: (text) => JSON.parse(text) as unknown,
};

const BINARY_PARSERS: Readonly<Record<number, (value: Buffer) => unknown>> = {
  16: (value) => value[0] === 1,
  20: (value) => String(value.readBigInt64BE()),
  21: (value) => value.readInt16BE(),
  23: (value) => value.readInt32BE(),
  114: (value) => JSON.parse(String(value)) as unknown,
};

const TYPES: PostgresTypes = {
  getTypeParser(id, format) {
    if (format !== 'binary') return PARSERS[id] ?? String;
    const parse = BINARY_PARSERS[id] ?? String;
    // An older pg passes the bytes as a text.
    return (value: string | Buffer) => parse(typeof value === 'string' ? Buffer.from(value) : value);
  },
};

/** The status of a session that is in no transaction. */
const IDLE = 'I';

const READ_ONLY = `current_setting('transaction_read_only')`;

/** The server's timeout ends this long before the client's, or at half of a short one. */
const SERVER_HEAD_START_MS = 500;

export const postgresServer: ServerDriver = {
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

  setsPooledSessions: false,

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

  send({ id, text, values }: SqlStatement, { prepared }: { prepared: boolean }): Promise<SqlResult> {
    const sent = this.client.query({ name: prepared ? id : undefined, text, values, types: TYPES });
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

export interface PostgresSettings {
  /** The application can use the native client. */
  readonly Client: new (options: object) => object;
  readonly options: DriverOptions;
  /** The schema of tables that name none. */
  readonly schema?: string | undefined;
  readonly password?: PasswordSource | undefined;
}

/** Options that would change the meaning of answers, the time limits, or the number of connections. */
const EXCLUDED = new Set(
  (
    'max min maxUses maxLifetimeSeconds allowExitOnIdle idleTimeoutMillis Client Promise pipeline query_timeout ' +
    'statement_timeout lock_timeout idle_in_transaction_session_timeout connectionTimeoutMillis types binary parseInt8'
  ).split(' '),
);

export function postgresDatabase({ Client, options, schema, password }: PostgresSettings): SqlDatabase {
  const address = addressOf(Client, options);
  const parameters = new URLSearchParams(/\?[^#]*/.exec(String(options['connectionString']))?.[0]);
  // Prisma and JDBC put the schema into the address, and pg ignores it.
  const [ofAddress, other] = ['schema', 'currentSchema'].flatMap((name) => parameters.getAll(name));
  for (const each of [other, schema]) refuseOtherSchema(each, ofAddress);
  const wanted = targetSessionOf(options);
  const open = (limitMs: number, ofOption?: string): OpeningSession => {
    const client = new Client(ownPostgresOptions(options, limitMs)) as PostgresClient;
    if (ofOption !== undefined)
      for (const each of [client, client.connectionParameters])
        Object.assign(each ?? {}, { password: ofOption });
    return { session: postgresSessionOf(client), opened: connected(client, options, wanted) };
  };
  const database = serverDatabase(postgresServer, { ...address, asked: password }, open);
  return { ...database, schema: ofAddress ?? schema, isSchemaOfAddress: ofAddress !== undefined };
}

/** pg itself reads the connection string, and the environment for what is missing. A factory of sockets is not called. */
function addressOf(Client: PostgresSettings['Client'], options: DriverOptions): ServerAddress {
  const form = { subpath: 'pg', example: 'postgres://user:password@host/database' };
  const client = readAddress(
    String(options['connectionString']),
    form,
    () => new Client({ ...options, password: options['password'], stream: undefined }),
  );
  const { host, port, database, user, password } = client as Partial<Record<string, string>>;
  const encoded = typeof password === 'string' ? encodeURIComponent(password) : undefined;
  return { host, port, database, user, secrets: [options['connectionString'], password, encoded] };
}

/** Takes from the application what leads to its database: address, credentials, TLS. */
export function ownPostgresOptions(options: DriverOptions, connectTimeoutMs: number): DriverOptions {
  const kept = Object.entries(options).filter(([key, value]) => value !== undefined && !EXCLUDED.has(key));
  // pg hides the password of a pool from enumeration.
  return {
    ...Object.fromEntries(kept),
    password: options['password'],
    connectionTimeoutMillis: connectTimeoutMs,
  };
}

/** Whether a session must be refused, by the value of libpq's `target_session_attrs`, which pg ignores. */
const REFUSALS = {
  any: undefined,
  'read-write': `current_setting('transaction_read_only') = 'on'`,
  primary: 'pg_is_in_recovery()',
};

/** As in pg, a parameter of the address comes before an option. */
function targetSessionOf(options: DriverOptions): keyof typeof REFUSALS {
  const [, ofAddress] = /[?&]target_session_attrs=([^&#]*)/.exec(String(options['connectionString'])) ?? [];
  const wanted = ofAddress ?? options['target_session_attrs'] ?? 'any';
  if (typeof wanted === 'string' && Object.hasOwn(REFUSALS, wanted)) return wanted as keyof typeof REFUSALS;
  refuseOption('target_session_attrs', wanted, `cronlatch writes, so use 'read-write', 'primary', or 'any'`);
}

/** The hooks are those of pg's pool. They prepare or refuse a new client. */
async function connected(
  client: PostgresClient,
  {
    verify,
    onConnect,
  }: {
    readonly verify?: (client: object, done: (error?: Error) => void) => void;
    readonly onConnect?: (client: object) => unknown;
  },
  wanted: keyof typeof REFUSALS,
): Promise<void> {
  await client.connect();
  if (verify !== undefined)
    await new Promise<void>((resolve, reject) =>
      verify(client, (error) => (error === undefined || error === null ? resolve() : reject(error))),
    );
  await onConnect?.(client);
  const refusal = REFUSALS[wanted];
  if (refusal === undefined) return;
  const text = `SELECT 1 WHERE ${refusal}`;
  const { rows } = await client.query({ name: undefined, text, values: [] });
  if (rows.length > 0)
    throw new Error(
      `target_session_attrs is '${wanted}', but the server is a standby or read-only: connect to the primary`,
    );
}
