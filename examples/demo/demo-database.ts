import type { Run, RunEvent } from 'cronlatch/provider';
import { createJobGuard, createTables } from 'cronlatch/better-sqlite3';
import Database from 'better-sqlite3';
import { DAY_JOB, EFFECTS_TABLE, type Day } from './day';
import { JOB } from './settings';

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

const LEASE = `
  SELECT locked_by AS lockedBy, lock_until - CAST(unixepoch('subsec') * 1000000 AS INTEGER) AS remaining
  FROM shedlock WHERE name = ?`;

/** The parent's own connection to the database, beside the workers' guards. */
export class DemoDatabase {
  private constructor(private readonly database: Database.Database) {}

  /** Creates the file and the tables before any worker starts. */
  static async open(file: string): Promise<DemoDatabase> {
    await createTables(`sqlite:${file}`);
    const database = new Database(file);
    database.exec(`CREATE TABLE ${EFFECTS_TABLE} (business_date TEXT NOT NULL, attempt INTEGER NOT NULL)`);
    return new DemoDatabase(database);
  }

  /** @throws Error if the lock has no record */
  readLease(): Lease {
    const row = this.database.prepare<[string], { lockedBy: string; remaining: number }>(LEASE).get(JOB);
    if (row === undefined) throw new Error(`Lock '${JOB}' has no record.`);
    return { lockedBy: row.lockedBy, until: Date.now() + row.remaining / 1000 };
  }

  async readDay({ date }: Day): Promise<DayRecord> {
    const guard = await createJobGuard(this.database);
    try {
      const runs = await guard.ledger.list({ job: DAY_JOB });
      const history = await guard.ledger.history({ job: DAY_JOB, periodKey: date });
      const effects = this.database.prepare(`SELECT attempt FROM ${EFFECTS_TABLE}`).all();
      return { date, runs, history, effects: effects.length };
    } finally {
      await guard.close();
    }
  }

  close(): void {
    this.database.close();
  }
}
