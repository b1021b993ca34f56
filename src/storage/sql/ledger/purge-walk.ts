import { readId } from './run-rows';
import type { SqlDecide, SqlRow, SqlStatement } from '../statements/statement';
import type { RunStatements } from './run-statements';

export type DeleteLogs = (runs: readonly number[]) => SqlStatement;

/** How many rows `purgeable` returns. */
const READ_AT_ONCE = 1000;

/**
 * The position of a purge. It walks through the table by id, the highest id first. So it reads each row once, and the
 * first run without a period that it finds for a job and scope is the newest one. A failed step starts again from it.
 */
export class PurgeWalk {
  /** @param kept jobs and scopes whose newest run without a period was found */
  constructor(
    private readonly deleteLogs?: DeleteLogs,
    readonly below = Number.MAX_SAFE_INTEGER,
    private readonly kept: ReadonlySet<string> = new Set(),
  ) {}

  /** The `rows` are those of `purgeable`. Returns the runs that one step deletes, and where the next step begins. */
  plan(rows: readonly SqlRow[], limit: number): { ids: readonly number[]; next: PurgeWalk | undefined } {
    const ids: number[] = [];
    const kept = new Set(this.kept);
    let below = this.below;
    for (const row of rows) {
      if (ids.length === limit) return { ids, next: new PurgeWalk(this.deleteLogs, below, kept) };
      below = readId(row);
      const subject = JSON.stringify([row['job_name'], row['scope']]);
      if (Number(row['undated']) === 1 && !kept.has(subject)) kept.add(subject);
      else if (Number(row['deletable']) === 1) ids.push(below);
    }
    return {
      ids,
      next: rows.length < READ_AT_ONCE ? undefined : new PurgeWalk(this.deleteLogs, below, kept),
    };
  }

  /** A transaction that deletes these runs, except for those that another transaction has locked. */
  deletion(
    ids: readonly number[],
    olderThanMs: number,
    of: RunStatements,
  ): readonly [SqlStatement, SqlDecide<number>] {
    const decide: SqlDecide<number> = ({ rows }) => {
      const locked = rows.map((row) => readId(row));
      if (locked.length === 0) return { value: 0, statements: [] };
      const logs = this.deleteLogs === undefined ? [] : [this.deleteLogs(locked)];
      return { value: locked.length, statements: [...logs, ...of.delete(locked)] };
    };
    return [of.lockPurgeable(olderThanMs, ids), decide];
  }
}
