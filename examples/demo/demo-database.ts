import dataSource from '../../ormconfig';

export interface Lease {
  readonly lockedBy: string;
  /** On this machine's clock, in milliseconds since 1970. */
  readonly until: number;
}

const REMAINING_MICROSECONDS = {
  sqlite: `lock_until - CAST(unixepoch('subsec') * 1000000 AS INTEGER)`,
  mysql: 'TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), lock_until)',
};

/** The parent's own look at the database, beside the workers' guards. */
export class DemoDatabase {
  private constructor(private readonly lockName: string) {}

  /**
   * Creates the tables before any worker starts: in an embedded file, which is then in WAL mode for all of them, or in
   * the database that `DATABASE_URL` names.
   */
  static async open(file: string, lockName: string): Promise<DemoDatabase> {
    if (dataSource.options.type === 'better-sqlite3') dataSource.setOptions({ database: file });
    await dataSource.initialize();
    try {
      await dataSource.runMigrations();
    } catch (error) {
      await dataSource.destroy();
      throw error;
    }
    return new DemoDatabase(lockName);
  }

  get kind(): string {
    return dataSource.options.type === 'mysql' ? 'MySQL' : 'SQLite';
  }

  /** @throws Error when the lock has no record */
  async readLease(): Promise<Lease> {
    const remaining = REMAINING_MICROSECONDS[dataSource.options.type === 'mysql' ? 'mysql' : 'sqlite'];
    const select = `SELECT locked_by, ${remaining} AS remaining FROM shedlock WHERE name = ?`;
    const [row] = await dataSource.query<{ locked_by: string; remaining: number | string }[]>(select, [
      this.lockName,
    ]);
    if (row === undefined) throw new Error(`Lock '${this.lockName}' has no record.`);
    return { lockedBy: row.locked_by, until: Date.now() + Number(row.remaining) / 1000 };
  }

  /** Takes the demo's record away: the database may be one that others use, too. */
  async close(): Promise<void> {
    await dataSource.query('DELETE FROM shedlock WHERE name = ?', [this.lockName]);
    await dataSource.destroy();
  }
}
