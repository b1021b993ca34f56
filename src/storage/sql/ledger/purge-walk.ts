import { readId } from './run-rows';
import type { NamedStatement, SqlDecide, SqlRow, SqlStatement } from '../statements/statement';
import type { RunStatements } from './run-statements';

/** How many rows `purgeable` returns. */
const READ_AT_ONCE = 1000;

/**
 * The position of a purge. It walks through the table by id, the highest id first. So it reads each row once, and the
 * first run without a period that it finds for a job and scope is the newest one.
 */
export class PurgeWalk {
  #below = Number.MAX_SAFE_INTEGER;
  readonly #kept = new Set<string>();

  constructor(readonly deleteLogs?: NamedStatement) {}

  get below(): number {
    return this.#below;
  }

  /** The `rows` are those of `purgeable`. Returns the runs that one step deletes, and where the next step begins. */
  plan(rows: readonly SqlRow[], limit: number) {
    const ids: number[] = [];
    /** Jobs and scopes whose newest run without a period is among the rows of this step. */
    const kept = new Set<string>();
    let below = this.#below;
    for (const row of rows) {
      if (ids.length === limit) return { ids, below, isEnd: false, kept };
      below = readId(row);
      const isDeletable = Number(row['deletable']) === 1;
      if (Number(row['undated']) === 0) {
        if (isDeletable) ids.push(below);
        continue;
      }
      const subject = JSON.stringify([row['job_name'], row['scope']]);
      if (!this.#kept.has(subject) && !kept.has(subject)) kept.add(subject);
      else if (isDeletable) ids.push(below);
    }
    return { ids, below, isEnd: rows.length < READ_AT_ONCE, kept };
  }

  /** Called after the step succeeded. A failed step starts again from the same position. */
  advance({ below, kept }: ReturnType<PurgeWalk['plan']>): void {
    this.#below = below;
    for (const subject of kept) this.#kept.add(subject);
  }
}

/** A transaction that deletes these runs, except for those that another transaction has locked. */
export function deletionOf(
  ids: readonly number[],
  olderThanMs: number,
  { of, deleteLogs }: { readonly of: RunStatements; readonly deleteLogs: PurgeWalk['deleteLogs'] },
): readonly [SqlStatement, SqlDecide<number>] {
  const planned = new Set(ids);
  return [
    of.lockPurgeable(olderThanMs, ids),
    ({ rows }) => {
      const locked = rows.filter((row) => planned.has(readId(row)));
      const hasPeriods = locked.some(({ undated }) => Number(undated) === 0);
      const lockedIds = locked.map((row) => readId(row));
      if (locked.length === 0) return { value: 0, statements: [] };
      const logs = deleteLogs === undefined ? [] : [deleteLogs.bind({ ids: JSON.stringify(lockedIds) })];
      return {
        value: locked.length,
        statements: [...logs, ...of.delete(lockedIds, { hasPeriods })],
      };
    },
  ];
}
