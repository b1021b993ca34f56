import type { RunFragments, TableShape } from '../sql-dialect';

/** With an array, the planner finds the rows by their ids regardless of its statistics. */
const IS_LISTED = `= ANY (ARRAY(SELECT value::bigint FROM json_array_elements_text(:ids::json)))`;

export function runFragments({ now }: TableShape): RunFragments {
  return {
    // Before PostgreSQL 14 the epoch is a double. In this century its rounding error is at most a tenth of a microsecond,
    // and the cast rounds it away.
    us: (instant) => `(extract(epoch FROM ${instant}) * 1000000)::bigint`,
    at: (parameter) => `(timestamptz 'epoch' + ${parameter}::bigint * interval '1 microsecond')`,
    after: (parameter) => `${now} + ${parameter}::bigint * interval '1 microsecond'`,
    is: (column, parameter) => `${column} = ${parameter}`,
    integer: (parameter) => `${parameter}::bigint`,
    isListedJob: 'job_name = ANY (ARRAY(SELECT json_array_elements_text(:jobs::json)))',
    // Of a table without statistics, the planner expects one row, and executes a joined query again for each.
    executedOnce: (query) => `(WITH once AS MATERIALIZED (${query}) SELECT * FROM once)`,
    // PostgreSQL would read the whole table for a GROUP BY: it cannot skip from one value of an index to the next.
    subjects: (table) => `WITH RECURSIVE s AS (
        (SELECT job_name, scope FROM ${table} ORDER BY job_name, scope LIMIT 1)
        UNION ALL SELECT n.job_name, n.scope FROM s CROSS JOIN LATERAL (
          SELECT t.job_name, t.scope FROM ${table} t WHERE (t.job_name, t.scope) > (s.job_name, s.scope)
          ORDER BY t.job_name, t.scope LIMIT 1) n
      ) SELECT job_name, scope FROM s`,
    byKey: '',
    orNothing: (key) => ` ON CONFLICT (${key}) DO NOTHING`,
    returningId: ' RETURNING id',
    forUpdate: ' FOR UPDATE',
    skipLocked: ' FOR UPDATE SKIP LOCKED',
    elements: (parameter, columns) => {
      const typed = Object.entries(columns).map(
        ([name, kind]) => `${name} ${kind === 'text' ? 'text' : 'bigint'}`,
      );
      return `json_to_recordset(${parameter}::json) AS j(${typed.join(', ')})`;
    },
    onDuplicate: (key) => `ON CONFLICT (${key}) DO UPDATE SET`,
    proposed: (column) => `excluded.${column}`,
    updateMatched: (table, elements, on, assignments) =>
      `UPDATE ${table} AS r SET ${assignments} FROM ${elements} WHERE ${on}`,
    listed: (table, alias, column) => `${table} ${alias} WHERE ${alias}.${column} ${IS_LISTED} AND`,
    deleteListed: (table, _alias, column) => `DELETE FROM ${table} WHERE ${column} ${IS_LISTED} RETURNING id`,
  };
}
