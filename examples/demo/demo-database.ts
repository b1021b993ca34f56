import type { Run, RunEvent } from 'cronlatch/provider';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../../ormconfig';
import type { Day } from './day';

export interface Lease {
  readonly lockedBy: string;
  /** On this machine's clock, in milliseconds since 1970. */
  readonly until: number;
}

/** The database's records of the job of the day. */
export interface DayRecord {
  readonly date: string;
  /** All its rows in the ledger. */
  readonly runs: readonly Run[];
  /** The ledger's history of its attempts. */
  readonly history: readonly RunEvent[];
  readonly effects: number;
}

/** Names that only this demo uses. */
export interface Names {
  readonly lockName: string;
  readonly day: Day;
}

/** The title of a kind of database, and its expression for the microseconds left of a lease. */
interface Dialect {
  readonly kind: string;
  readonly remaining: string;
}

const REMAINING_ON_MYSQL = 'TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), lock_until)';

const DIALECTS: Readonly<Record<string, Dialect>> = {
  mysql: { kind: 'MySQL', remaining: REMAINING_ON_MYSQL },
  mariadb: { kind: 'MariaDB', remaining: REMAINING_ON_MYSQL },
  postgres: {
    kind: 'PostgreSQL',
    remaining: 'extract(epoch FROM lock_until - clock_timestamp()) * 1000000',
  },
  'better-sqlite3': {
    kind: 'SQLite',
    remaining: `lock_until - CAST(unixepoch('subsec') * 1000000 AS INTEGER)`,
  },
};

function dialect(): Dialect {
  const { type } = dataSource.options;
  const known = DIALECTS[type];
  if (known === undefined) throw new Error(`The demo cannot read a lock table on ${type}.`);
  return known;
}

/** The parent's own connection to the database, beside the workers' guards. */
export class DemoDatabase {
  private constructor(private readonly names: Names) {}

  /**
   * Creates the tables before any worker starts: in an embedded file, which then uses WAL mode for all of
   * them, or in the database of `DATABASE_URL`.
   */
  static async open(file: string, names: Names): Promise<DemoDatabase> {
    if (dataSource.options.type === 'better-sqlite3') dataSource.setOptions({ database: file });
    await dataSource.initialize();
    try {
      await dataSource.runMigrations();
      await dataSource.query(
        `CREATE TABLE ${names.day.effectsTable} (business_date VARCHAR(10) NOT NULL, attempt INT NOT NULL)`,
      );
    } catch (error) {
      await dataSource.destroy();
      throw error;
    }
    return new DemoDatabase(names);
  }

  get kind(): string {
    return dialect().kind;
  }

  /** @throws Error if the lock has no record */
  async readLease(): Promise<Lease> {
    const row = await dataSource
      .createQueryBuilder()
      .select('locked_by')
      .addSelect(dialect().remaining, 'remaining')
      .from('shedlock', 'shedlock')
      .where('name = :name', { name: this.names.lockName })
      .getRawOne<{ locked_by: string; remaining: number | string }>();
    if (row === undefined) throw new Error(`Lock '${this.names.lockName}' has no record.`);
    return { lockedBy: row.locked_by, until: Date.now() + Number(row.remaining) / 1000 };
  }

  async readDay(): Promise<DayRecord> {
    const { job, date, effectsTable } = this.names.day;
    const guard = await createJobGuard(dataSource);
    try {
      const runs = await guard.ledger.list({ job });
      const history = await guard.ledger.history({ job, periodKey: date });
      const effects = await dataSource.query<unknown[]>(`SELECT attempt FROM ${effectsTable}`);
      return { date, runs, history, effects: effects.length };
    } finally {
      await guard.close();
    }
  }

  /** Deletes the demo's records, because others may use the database, too. */
  async close(): Promise<void> {
    const { lockName, day } = this.names;
    const remove = async (table: string, where: string, values: object): Promise<void> =>
      void (await dataSource.createQueryBuilder().delete().from(table).where(where, values).execute());
    const runs = 'SELECT id FROM cronlatch_run WHERE job_name = :job';
    await remove('cronlatch_run_event', `run_id IN (${runs})`, { job: day.job });
    await remove('cronlatch_run', 'job_name = :job', { job: day.job });
    await remove('shedlock', 'name IN (:...names)', { names: [lockName, day.job] });
    await dataSource.query(`DROP TABLE ${day.effectsTable}`);
    await dataSource.destroy();
  }
}
