import { NamedStatement } from '../statements/statement';
import { quoteLockTable, type DialectName, type SqlDialect } from '../dialects/sql-dialect';
import { lockStatementsFor } from '../lock/lock-statements';
import { asFound, type InspectedTable } from '../schema/inspected-table';
import type { TableDefinition } from '../schema/table-definition';

/** Returns the variables that `clusterProblem` needs. PostgreSQL has no such clusters of its own. */
export const CLUSTER_VARIABLES: Readonly<Partial<Record<DialectName, string>>> = {
  mysql: `SHOW GLOBAL VARIABLES WHERE Variable_name IN
    ('wsrep_on', 'group_replication_group_name', 'group_replication_single_primary_mode')`,
};

/** Why row locks do not exclude one another on this server; `undefined` if they do. */
export function clusterProblem({
  wsrep_on: isGalera,
  group_replication_group_name: group,
  group_replication_single_primary_mode: isSingle,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (isGalera === 'ON') return 'it is a node of a Galera cluster (wsrep_on = ON)';
  if (!group || isSingle !== 'OFF') return undefined;
  return 'it is a member of a group with several primaries (group_replication_single_primary_mode = OFF)';
}

/** An insert of a row that exists does not wait for its holder. MySQL waits for a second, the shortest limit. */
const INSERT: Readonly<Record<DialectName, { readonly before: string; readonly after: string }>> = {
  mysql: { before: '/*M! SET STATEMENT innodb_lock_wait_timeout = 0 FOR */ ', after: '' },
  postgres: { before: '', after: ' ON CONFLICT DO NOTHING' },
  sqlite: { before: '', after: '' },
};

/** The statements for a table of row locks as it was found. */
export type RowLockStatements = NonNullable<ReturnType<typeof rowLockStatementsFor>>;

/** @param found a table without errors */
export function rowLockStatementsFor(
  found: InspectedTable,
  { dialect, table, waits }: { dialect: SqlDialect; table: TableDefinition; waits: boolean },
) {
  const records = lockStatementsFor(found, table, dialect);
  if (records === undefined) return undefined;
  const { now } = records.shape;
  const { us, at } = dialect.runFragments({ now });
  const quoted = quoteLockTable(asFound(table, found), dialect);
  const { table: into, name, lockUntil, lockedAt, lockedBy, fencingToken } = quoted;
  const { before, after } = INSERT[dialect.name];
  const named = (text: string): NamedStatement => new NamedStatement(text, dialect.placeholder);
  const record = `SELECT ${name} AS name, ${lockedBy} AS locked_by, CASE WHEN ${lockUntil} > ${now} THEN 1 ELSE 0 END AS held,
    ${us(lockUntil)} AS lock_until_us, ${us(now)} AS now_us`;
  const from = `FROM ${into} WHERE ${name} = :name FOR UPDATE`;
  return {
    /** Creates the row of a lock that is free. */
    insert: named(
      `${before}INSERT INTO ${into} (${name}, ${lockUntil}, ${lockedAt}, ${lockedBy}, ${fencingToken})
       VALUES (:name, ${now}, ${now}, '', 0)${after}`,
    ),
    /** Locks the row, and returns the time, the next token, the last holder and whether its `lockAtLeastFor` lasts. */
    lock: named(
      `${record}, GREATEST(${fencingToken} + 1, ${us(now)}) AS fencing_token ${from}${waits ? '' : ' NOWAIT'}`,
    ),
    /** The same record as `inspect`. Fails if another transaction holds the row. */
    settle: named(`${record}, ${fencingToken} AS fencing_token ${from} NOWAIT`),
    /** Writes the release of a holder, unless a later one has written its own. */
    release: named(
      // The database clock may be set back while a job runs, so the end is compared with its current time.
      `UPDATE ${into} SET ${lockUntil} = GREATEST(${now}, ${at(':keptUntil')}), ${lockedAt} = ${at(':lockedAt')},
         ${lockedBy} = :owner, ${fencingToken} = :token
       WHERE ${name} = :name AND ${fencingToken} < :token`,
    ),
    inspect: records.inspect,
    records,
  };
}
