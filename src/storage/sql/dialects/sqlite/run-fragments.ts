import type { RunFragments, TableShape } from '../sql-dialect';

const IS_LISTED = 'IN (SELECT value FROM json_each(:ids))';

export function runFragments({ now }: TableShape): RunFragments {
  return {
    us: (instant) => instant,
    at: (parameter) => parameter,
    after: (parameter) => `${now} + ${parameter}`,
    is: (column, parameter) => `${column} = ${parameter}`,
    integer: (parameter) => parameter,
    isListedJob: 'job_name IN (SELECT value FROM json_each(:jobs))',
    subjects: (table) => `SELECT job_name, scope FROM ${table} GROUP BY job_name, scope`,
    executedOnce: (query) => `(${query} LIMIT 1000000)`,
    byKey: '',
    orNothing: (key) => ` ON CONFLICT (${key}) DO NOTHING`,
    returningId: ' RETURNING id',
    // A transaction begins as the only writer, so there is nothing to lock.
    forUpdate: '',
    skipLocked: '',
    elements: (parameter, columns) => {
      const read = Object.keys(columns).map((name) => `json_extract(value, '$.${name}') AS ${name}`);
      return `(SELECT ${read.join(', ')} FROM json_each(${parameter})) AS j`;
    },
    onDuplicate: (key) => `ON CONFLICT (${key}) DO UPDATE SET`,
    proposed: (column) => `excluded.${column}`,
    updateMatched: (table, elements, on, assignments) =>
      `UPDATE ${table} AS r SET ${assignments} FROM ${elements} WHERE ${on}`,
    listed: (table, alias, column) => `${table} ${alias} WHERE ${alias}.${column} ${IS_LISTED} AND`,
    deleteListed: (table, _alias, column) => `DELETE FROM ${table} WHERE ${column} ${IS_LISTED} RETURNING id`,
  };
}
