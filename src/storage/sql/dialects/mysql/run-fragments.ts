import type { RunFragments, TableShape } from '../sql-dialect';

// MySQL refuses to lock the rows of a statement that names a table function itself.
const IDS = `(SELECT j.id FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) j) d`;
const TEXT = 'TEXT CHARACTER SET utf8mb4';
const JOBS = `SELECT j.job FROM JSON_TABLE(:jobs, '$[*]' COLUMNS (job VARCHAR(255) CHARACTER SET utf8mb4 PATH '$')) j`;

export function runFragments({ now, keyIndex = '' }: TableShape): RunFragments {
  return {
    us: (instant) => `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${instant})`,
    at: (parameter) => `TIMESTAMPADD(MICROSECOND, ${parameter}, TIMESTAMP'1970-01-01 00:00:00')`,
    after: (parameter) => `TIMESTAMPADD(MICROSECOND, ${parameter}, ${now})`,
    // The binary collation that MySQL and MariaDB share ignores spaces at the end.
    is: (column, parameter) => `(${column} = ${parameter} AND LENGTH(${column}) = LENGTH(${parameter}))`,
    integer: (parameter) => `CAST(${parameter} AS UNSIGNED)`,
    isListedJob: `job_name IN (${JOBS})`,
    subjects: (table) => `SELECT job_name, scope FROM ${table} GROUP BY job_name, scope`,
    // With a LIMIT, MariaDB does not merge the query, which it cannot execute twice then.
    executedOnce: (query) => `(${query} LIMIT 1000000)`,
    // With another index, InnoDB would also lock rows and gaps of other runs, and wait for their locks.
    byKey: ` FORCE INDEX (\`${keyIndex.replaceAll('`', '``')}\`)`,
    // An existing row is an error here, so every insert that succeeds wrote its row.
    orNothing: () => '',
    returningId: '',
    forUpdate: ' FOR UPDATE',
    skipLocked: ' FOR UPDATE SKIP LOCKED',
    elements: (parameter, columns) => {
      const typed = Object.entries(columns).map(
        ([name, kind]) => `${name} ${kind === 'text' ? TEXT : 'BIGINT'} PATH '$.${name}'`,
      );
      return `JSON_TABLE(${parameter}, '$[*]' COLUMNS (${typed.join(', ')})) j`;
    },
    onDuplicate: () => 'ON DUPLICATE KEY UPDATE',
    // MySQL 8.0.20 has a new notation, which MariaDB does not have.
    proposed: (column) => `VALUES(${column})`,
    updateMatched: (table, elements, on, assignments) =>
      `UPDATE ${elements} STRAIGHT_JOIN ${table} r ON ${on} SET ${assignments} WHERE TRUE`,
    listed: (table, alias, column) =>
      `${IDS} STRAIGHT_JOIN ${table} ${alias} ON ${alias}.${column} = d.id WHERE`,
    deleteListed: (table, alias, column) =>
      `DELETE ${alias} FROM ${IDS} STRAIGHT_JOIN ${table} ${alias} ON ${alias}.${column} = d.id`,
  };
}
