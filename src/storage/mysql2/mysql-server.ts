import type { DriverSession, OpeningSession, ServerDriver } from '../sql/connections/server-driver';
import type { NodeWait, SqlResult, SqlRow, SqlStatement, SqlValue } from '../sql/statements/statement';
import type { DriverOptions } from '../sql/database/driver';
import { serverDatabase, type ServerAddress, type SqlDatabase } from '../sql/connections/sql-database';
import { mysql } from '../sql/dialects/mysql';

export interface MysqlConnection {
  query(sql: string | object, values: readonly (number | null | SqlText)[], done: MysqlCallback): unknown;
  execute(sql: string | object, values: readonly SqlValue[], done: MysqlCallback): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
  connect(done: (error: Error | null) => void): unknown;
  end(): unknown;
  destroy(): void;
  readonly threadId: number | null;
  readonly stream?: { readonly localPort?: number };
  readonly config?: { readonly [K in keyof typeof ROWS]?: unknown };
}
/** The driver puts the result into the statement unchanged. */
interface SqlText {
  toSqlString(): string;
}
type MysqlCallback = (error: Error | null, answer: unknown) => void;

/** Rows are read by the names of their columns, also if the application has another setting for its connections. */
const ROWS = { rowsAsArray: false, nestTables: false, typeCast: true };

/** Bit 0 of the status that MySQL sends with every answer. */
const IN_TRANSACTION = 1;

const READ_ONLY = `CONCAT_WS(' ', @@read_only, @@innodb_read_only)`;

/** @param value an expression, never weaker than what the session has */
function nodeWait(name: string, value: string): Pick<NodeWait, 'begin' | 'end'> {
  return {
    begin: `SET @cronlatch_node_wait = @@SESSION.${name}, SESSION ${name} = ${value}`,
    end: `SET SESSION ${name} = @cronlatch_node_wait`,
  };
}

const SYNC_WAIT = '@@SESSION.wsrep_sync_wait | 7';
const CONSISTENCY = `IF(@@SESSION.group_replication_consistency LIKE '%AFTER', 'BEFORE_AND_AFTER', 'BEFORE')`;

function limits(statementTimeoutMs: number): string {
  // InnoDB checks waits once a second, so a wait can end a second late. It must still end before the client's timeout.
  const lockWaitSeconds = Math.max(1, Math.floor(statementTimeoutMs / 1000) - 2);
  return (
    // In strict mode, a name is stored unchanged or not at all.
    `time_zone = '+00:00', autocommit = 1, sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), ` +
    // It refuses statements that delete many rows.
    `sql_safe_updates = 0, ` +
    `innodb_lock_wait_timeout = ${lockWaitSeconds}, lock_wait_timeout = ${lockWaitSeconds}` +
    // It limits how long a process that stops during a claim keeps the row locked. MySQL has no such limit.
    ` /*M! , idle_transaction_timeout = ${Math.ceil(statementTimeoutMs / 1000)} */`
  );
}

export const mysqlServer: ServerDriver = {
  dialect: mysql,

  readOnly: READ_ONLY,

  // A server without one of these variables would refuse its @@name. Every user may read these tables.
  variables: `SELECT CONNECTION_ID() AS session_id, ${READ_ONLY} AS is_read_only, v.VARIABLE_NAME AS name, v.VARIABLE_VALUE AS value
    FROM /*!80000 performance_schema.session_variables */ /*M! information_schema.SESSION_VARIABLES */ v
    WHERE v.VARIABLE_NAME IN ('transaction_isolation', 'tx_isolation', 'wsrep_on', 'wsrep_sync_wait', 'wsrep_node_name', 'hostname', 'port',
      'group_replication_group_name', 'group_replication_single_primary_mode', 'group_replication_consistency')`,

  // MariaDB before 11.1 has only tx_isolation.
  sessionSettings: (statementTimeoutMs, { transaction_isolation: isolation }) => [
    `SET ${isolation === undefined ? 'tx' : 'transaction'}_isolation = 'READ-COMMITTED', ${limits(statementTimeoutMs)}`,
  ],

  // Proxies of MySQL bind a session to the client that sets something in it.
  setsPooledSessions: true,

  nodeWait({ wsrep_on: isGalera, wsrep_sync_wait: kinds, ...variables }) {
    const isSynced = (Number(kinds) & 7) === 7;
    const synced = { setting: 'wsrep_sync_wait = 7', isSet: isSynced, worksInside: true };
    if (isGalera === 'ON') return { ...nodeWait('wsrep_sync_wait', SYNC_WAIT), ...synced };
    const isSingle = variables['group_replication_single_primary_mode'] !== 'OFF';
    if (isSingle || !variables['group_replication_group_name']) return undefined;
    const isSet = /^BEFORE(_AND_AFTER)?$/.test(String(variables['group_replication_consistency']));
    const consistent = { setting: `group_replication_consistency = 'BEFORE'`, isSet, worksInside: false };
    return { ...nodeWait('group_replication_consistency', CONSISTENCY), ...consistent };
  },

  begin: 'START TRANSACTION',

  beginAt: (isolationLevel) => [
    ...(isolationLevel === undefined ? [] : [`SET TRANSACTION ISOLATION LEVEL ${isolationLevel}`]),
    'START TRANSACTION',
  ],

  // With another completion_type, a plain COMMIT would begin another transaction or end the session.
  commit: 'COMMIT AND NO CHAIN NO RELEASE',

  rollBack: 'ROLLBACK AND NO CHAIN NO RELEASE',

  probe: 'DO 0',

  idleLimit: {
    // In whole seconds. Assignments run from left to right, so the old values are saved first. completion_type is set
    // because TypeORM sends a plain COMMIT.
    begin: (milliseconds) =>
      `SET @cronlatch_wait_timeout = @@SESSION.wait_timeout, @cronlatch_completion_type = @@SESSION.completion_type, ` +
      `SESSION wait_timeout = ${Math.max(1, Math.ceil(milliseconds / 1000))}, SESSION completion_type = 'NO_CHAIN'`,
    end: 'SET SESSION wait_timeout = @cronlatch_wait_timeout, SESSION completion_type = @cronlatch_completion_type',
  },

  rowLock: {
    session({ statementTimeoutMs, idleMs, waitMs }) {
      const idleSeconds = Math.ceil(idleMs / 1000);
      const idleInTransaction = ['', '_readonly', '_write'].map(
        (kind) => `, idle${kind}_transaction_timeout = ${idleSeconds}`,
      );
      return [
        'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
        `SET ${limits(statementTimeoutMs)}`,
        `SET wait_timeout = ${idleSeconds}, innodb_lock_wait_timeout = ${Math.max(1, Math.ceil(waitMs / 1000))}` +
          ` /*M! ${idleInTransaction.join('')} */`,
      ];
    },
    // READ WRITE fails on a read-only server, so that no replica grants the lock beside the primary.
    begin: () => 'START TRANSACTION READ WRITE',
  },
};

export function isMysqlError(error: unknown): boolean {
  return error instanceof Error && ('sqlState' in error || ('fatal' in error && error.fatal === true));
}

/** By connection: a pool lends the same one many times. */
const sessions = new WeakMap<MysqlConnection, MysqlSession>();

export function mysqlSessionOf(connection: MysqlConnection): DriverSession {
  const session = sessions.get(connection) ?? new MysqlSession(connection);
  sessions.set(connection, session);
  return session;
}

class MysqlSession implements DriverSession {
  /** Read while the connection is open: a destroyed socket has no port. */
  #port: number | undefined;
  readonly #hasOtherRows: boolean;

  constructor(private readonly connection: MysqlConnection) {
    const { rowsAsArray, nestTables, typeCast } = connection.config ?? {};
    this.#hasOtherRows = Boolean(rowsAsArray) || Boolean(nestTables) || typeCast !== ROWS.typeCast;
  }

  send({ text, values }: SqlStatement, { prepared }: { prepared: boolean }): Promise<SqlResult> {
    this.#port ??= this.connection.stream?.localPort;
    // mysql2 takes several microseconds to merge options.
    const sql = this.#hasOtherRows ? { sql: text, ...ROWS } : text;
    return new Promise((resolve, reject) => {
      const done: MysqlCallback = (error, answer) =>
        error ? reject(error) : resolve(driverAnswerOf(answer));
      if (prepared) this.connection.execute(sql, values, done);
      else this.connection.query(sql, values.map(sqlLiteral), done);
    });
  }

  get id(): number | null {
    return this.connection.threadId;
  }

  async endFrom(other: DriverSession): Promise<void> {
    const { threadId } = this.connection;
    const sessions = await other.send({ id: '', text: 'SHOW PROCESSLIST', values: [] }, { prepared: false });
    // Behind a load balancer, the session with this id can be a different one on another server. The port identifies ours.
    const isOurs = ({ Id, Host }: SqlRow): boolean =>
      Number(Id) === threadId && String(Host).endsWith(`:${this.#port}`);
    if (!sessions.rows.some(isOurs)) return;
    await other.send({ id: '', text: `KILL ${Number(threadId)}`, values: [] }, { prepared: false });
  }

  onEnd(listener: () => void): void {
    this.connection.on('error', listener);
    this.connection.on('end', listener);
  }

  end(): void {
    this.connection.end();
  }

  destroy(): void {
    this.connection.destroy();
  }
}

/** A text literal that works in every SQL mode. The driver's own quoting is wrong with NO_BACKSLASH_ESCAPES. */
function sqlLiteral(value: SqlValue): number | null | SqlText {
  if (typeof value !== 'string') return value;
  return { toSqlString: () => `_utf8mb4 X'${Buffer.from(value).toString('hex')}'` };
}

function driverAnswerOf(answer: unknown): SqlResult {
  if (Array.isArray(answer))
    return { rows: answer as readonly SqlRow[], affectedRows: undefined, insertId: undefined };
  const { affectedRows, insertId, serverStatus } = answer as Record<string, unknown>;
  return { rows: [], affectedRows, insertId, inTransaction: (Number(serverStatus) & IN_TRANSACTION) !== 0 };
}

export interface MysqlSettings {
  /** The package, which the application can replace. */
  readonly mysql2: { createConnection(options: object): unknown };
  readonly options: DriverOptions;
  readonly address: ServerAddress;
}

/** Options that would change the meaning of answers, the time limits, or the number of connections. */
const EXCLUDED = new Set(
  (
    'connectionLimit max maxIdle queueLimit waitForConnections multipleStatements flags typeCast rowsAsArray ' +
    'nestTables namedPlaceholders queryFormat timezone dateStrings decimalNumbers charset charsetNumber ' +
    'jsonStrings stringifyObjects supportBigNumbers bigNumberStrings connectTimeout resetOnRelease ' +
    // mysql2 computes these.
    'clientFlags maxPacketSize pool isServer Promise idleTimeout uri'
  ).split(' '),
);

export function mysqlDatabase({ mysql2, options, address }: MysqlSettings): SqlDatabase {
  const open = (limitMs: number, ofOption?: string): OpeningSession => {
    const given = ofOption === undefined ? options : { ...options, password: ofOption };
    const connection = mysql2.createConnection(ownMysqlOptions(given, limitMs)) as MysqlConnection;
    const opened = new Promise<void>((resolve, reject) =>
      connection.connect((error) => (error ? reject(error) : resolve())),
    );
    return { session: mysqlSessionOf(connection), opened };
  };
  return serverDatabase(mysqlServer, address, open);
}

/** Takes from the application what leads to its database: address, credentials, TLS. */
export function ownMysqlOptions(options: DriverOptions, connectTimeoutMs: number): DriverOptions {
  const kept = Object.entries(options).filter(([key, value]) => value !== undefined && !EXCLUDED.has(key));
  return {
    // More than cronlatch has. If a tool changes their texts, they must not use up the server's room for all clients.
    maxPreparedStatements: 200,
    ...Object.fromEntries(kept),
    connectTimeout: connectTimeoutMs,
    // Another character set would turn some characters of a name into question marks.
    charset: 'UTF8MB4_UNICODE_CI',
    supportBigNumbers: true,
    bigNumberStrings: true,
  };
}
