/** ShedLock for Java as a database sees it, with its `usingDbTime()`. */
import type { Administrator, ServerName } from './fresh';

interface JavaSql {
  /** The table of its documentation. */
  readonly createTable: string;
  readonly now: string;
  readonly after: (milliseconds: number) => string;
  /** The parts of an insert that ignore an existing row. */
  readonly insertOnce: readonly [string, string];
}

const MYSQL: JavaSql = {
  createTable: `CREATE TABLE shedlock (
    name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL,
    locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))`,
  now: 'UTC_TIMESTAMP(3)',
  after: (milliseconds) => `TIMESTAMPADD(MICROSECOND, ${milliseconds * 1000}, UTC_TIMESTAMP(3))`,
  insertOnce: ['INSERT IGNORE', ''],
};

const SQL: Readonly<Record<ServerName, JavaSql>> = {
  mysql: MYSQL,
  mariadb: MYSQL,
  postgres: {
    createTable: `CREATE TABLE shedlock (
      name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL, locked_at TIMESTAMP NOT NULL,
      locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))`,
    now: `timezone('utc', CURRENT_TIMESTAMP)`,
    after: (milliseconds) => `timezone('utc', CURRENT_TIMESTAMP) + interval '${milliseconds} milliseconds'`,
    insertOnce: ['INSERT', 'ON CONFLICT DO NOTHING'],
  },
};

/** An instance of an application in Java, on a connection whose session is in UTC. */
export class JavaShedLock {
  readonly #sql: JavaSql;

  constructor(
    server: ServerName,
    private readonly connection: Administrator,
    private readonly host: string,
  ) {
    this.#sql = SQL[server];
  }

  /** Sends a statement in its session. */
  async send(statement: string): Promise<void> {
    await this.connection.query(statement);
  }

  async createTable(): Promise<void> {
    await this.connection.query(this.#sql.createTable);
  }

  async lock(name: string, lockAtMostForMs: number): Promise<boolean> {
    const { now, after, insertOnce } = this.#sql;
    const [insert, otherwise] = insertOnce;
    const until = after(lockAtMostForMs);
    const inserted = await this.#rows(
      `${insert} INTO shedlock (name, lock_until, locked_at, locked_by)
       VALUES ('${name}', ${until}, ${now}, '${this.host}') ${otherwise}`,
    );
    if (inserted === 1) return true;
    const updated = await this.#rows(
      `UPDATE shedlock SET lock_until = ${until}, locked_at = ${now}, locked_by = '${this.host}'
       WHERE name = '${name}' AND lock_until <= ${now}`,
    );
    return updated === 1;
  }

  async unlock(name: string): Promise<void> {
    await this.connection.query(
      `UPDATE shedlock SET lock_until = ${this.#sql.now} WHERE name = '${name}' AND locked_by = '${this.host}'`,
    );
  }

  async #rows(statement: string): Promise<number> {
    const answer = await this.connection.query(statement);
    const { affectedRows, rowCount } = (Array.isArray(answer) ? answer[0] : answer) as Record<string, number>;
    return affectedRows ?? rowCount ?? NaN;
  }
}
