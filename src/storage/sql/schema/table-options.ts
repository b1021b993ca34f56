export interface LockColumns {
  readonly name: string;
  readonly lockUntil: string;
  readonly lockedAt: string;
  readonly lockedBy: string;
  readonly fencingToken: string;
}

export interface LockTableOptions {
  /** Default `shedlock`. May carry its schema before a dot. */
  readonly lockTable?: string | undefined;
  /** The schema (on MySQL the database) that the table is in. Default: that of the connection. */
  readonly schema?: string | undefined;
  /** Column names that differ from ShedLock's. */
  readonly columns?: Partial<LockColumns> | undefined;
  /** The width of the column of names, in characters: the same in all tables. Default 64, at most 255. */
  readonly nameLength?: number | undefined;
}

export interface RowLockTableOptions extends Pick<LockTableOptions, 'schema' | 'nameLength'> {
  /** The table of row locks. Default `cronlatch_row_lock`. May carry its schema before a dot. */
  readonly rowLockTable?: string | undefined;
}

export interface RunTableOptions extends Pick<LockTableOptions, 'schema' | 'nameLength'> {
  /** Default `cronlatch_run`, or `schema.name`. Events, acts, notices and logs add `_event`, `_act`, `_notice` and `_log` to it. */
  readonly runTable?: string | undefined;
}

export interface JobTableOptions extends Pick<LockTableOptions, 'schema' | 'nameLength'> {
  /** The table of the register of jobs. Default `cronlatch_job`. May carry its schema before a dot. */
  readonly jobTable?: string | undefined;
}

export type TableNames = LockTableOptions & RowLockTableOptions & RunTableOptions & JobTableOptions;
