import type { ServerName } from './fresh';
import type { ServerDatabase } from './types';

/**
 * The statements of each server. The ids of sessions are those of the same database, without the querying
 * one.
 */
interface Statements {
  readonly sessions: string;
  readonly waiting: string;
  /** In a transaction, PostgreSQL shows the sessions as they were when it first looked, unless it forgets them. */
  readonly forgetSessions?: string;
  readonly busy: string;
  readonly kill: (id: number) => string;
  /** Ends the statement of a session, and leaves the session open. */
  readonly cancel: (id: number) => string;
  readonly lockTable: string;
  readonly unlockTable: string;
}

const ON_MYSQL = 'FROM performance_schema.threads WHERE processlist_db = DATABASE()';

/** Not its information_schema, which fails as soon as any session of the server runs a statement with four-byte text. */
const MYSQL: Statements = {
  sessions: `SELECT processlist_id AS id ${ON_MYSQL} AND processlist_id <> CONNECTION_ID()`,
  waiting: `SELECT processlist_id AS id ${ON_MYSQL} AND LOWER(processlist_state) = 'updating'`,
  // The state of a statement that waits for a row to read, or for a table, has no single name.
  busy: `SELECT processlist_id AS id ${ON_MYSQL} AND processlist_id <> CONNECTION_ID() AND processlist_command <> 'Sleep'`,
  kill: (id) => `KILL ${id}`,
  cancel: (id) => `KILL QUERY ${id}`,
  lockTable: 'LOCK TABLES shedlock WRITE',
  unlockTable: 'UNLOCK TABLES',
};

const ON_MARIADB = 'FROM information_schema.processlist WHERE db = DATABASE()';

const MARIADB: Statements = {
  ...MYSQL,
  sessions: `SELECT id ${ON_MARIADB} AND id <> CONNECTION_ID()`,
  // Not innodb_trx: its data is as old as its last read, if that was less than a tenth of a second ago.
  waiting: `SELECT id ${ON_MARIADB} AND LOWER(state) = 'updating'`,
  busy: `SELECT id ${ON_MARIADB} AND id <> CONNECTION_ID() AND command <> 'Sleep'`,
};

const POSTGRES_SESSIONS = `
  SELECT pid AS id FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;

const STATEMENTS: Readonly<Record<ServerName, Statements>> = {
  mysql: MYSQL,
  mariadb: MARIADB,
  postgres: {
    sessions: POSTGRES_SESSIONS,
    forgetSessions: 'SELECT pg_stat_clear_snapshot()',
    waiting: `${POSTGRES_SESSIONS} AND wait_event_type = 'Lock'`,
    busy: `${POSTGRES_SESSIONS} AND wait_event_type = 'Lock'`,
    kill: (id) => `SELECT pg_terminate_backend(${id})`,
    cancel: (id) => `SELECT pg_cancel_backend(${id})`,
    lockTable: 'START TRANSACTION; LOCK TABLE shedlock',
    unlockTable: 'COMMIT',
  },
};

/** Another session in the same database, which blocks others. */
export class Stranger {
  readonly #statements: Statements;

  constructor(
    server: ServerName,
    private readonly database: Pick<ServerDatabase<unknown>, 'ask'>,
  ) {
    this.#statements = STATEMENTS[server];
  }

  /** From now on, until the commit, other writers of these rows have to wait. */
  async lockRow(...names: readonly string[]): Promise<void> {
    await this.database.ask('START TRANSACTION');
    for (const name of names)
      await this.database.ask(`SELECT * FROM shedlock WHERE name = '${name}' FOR UPDATE`);
  }

  async commit(): Promise<void> {
    await this.database.ask('COMMIT');
  }

  /** Keeps all other sessions from the lock table meanwhile. */
  async whileTableIsLocked<T>(action: () => Promise<T>): Promise<T> {
    await this.database.ask(this.#statements.lockTable);
    try {
      return await action();
    } finally {
      await this.database.ask(this.#statements.unlockTable);
    }
  }

  async countSessions(): Promise<number> {
    return (await this.database.ask(this.#statements.sessions)).length;
  }

  async countWaitingSessions(): Promise<number> {
    const { forgetSessions, waiting } = this.#statements;
    if (forgetSessions !== undefined) await this.database.ask(forgetSessions);
    return (await this.database.ask(waiting)).length;
  }

  async isAnySessionWaiting(): Promise<boolean> {
    return (await this.countWaitingSessions()) > 0;
  }

  /** A session that is busy for longer than an instant waits for the stranger's locks. */
  async isAnySessionBusy(): Promise<boolean> {
    return (await this.database.ask(this.#statements.busy)).length > 0;
  }

  async killSessions(): Promise<void> {
    for (const { id } of await this.database.ask(this.#statements.sessions))
      await this.database.ask(this.#statements.kill(Number(id)));
  }

  /** Kills one of the sessions, or only its statement. @returns `false` if it had already ended */
  async strikeOne(blow: 'kill' | 'cancel'): Promise<boolean> {
    const sessions = await this.database.ask(this.#statements.sessions);
    const struck = sessions[Math.floor(Math.random() * sessions.length)];
    if (struck === undefined) return false;
    return await this.database.ask(this.#statements[blow](Number(struck['id']))).then(
      () => true,
      () => false,
    );
  }
}
