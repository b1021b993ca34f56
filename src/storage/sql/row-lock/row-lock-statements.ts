import { RELEASED_MARK } from '../../../core/lease/owner';
import { NamedStatement } from '../connections/statement';
import { quoteLockTable, type DialectName, type SqlDialect } from '../dialects/sql-dialect';
import { lockStatementsFor, type LockStatements } from '../lock/lock-statements';
import { asFound, type InspectedTable } from '../schema/inspected-table';
import type { TableDefinition } from '../schema/table-definition';

/** The statements for a table of row locks as it was found. */
export interface RowLockStatements {
  /** Creates the row of a lock that is free. */
  readonly insert: NamedStatement;
  /**
   * Locks the row for the rest of the transaction. Returns whether `lockAtLeastFor` of the last holder still lasts, that
   * holder, the time and the next token.
   */
  readonly lock: NamedStatement;
  /** The same record as `inspect`. Fails if another transaction holds the row. */
  readonly settle: NamedStatement;
  /** Writes the release of a holder, unless a later one has written its own. */
  readonly release: NamedStatement;
  readonly inspect: NamedStatement;
  readonly records: LockStatements;
}

interface InsertWords {
  readonly before: string;
  readonly after: string;
}

/** An insert of a row that exists does not wait for its holder. MySQL waits for a second, the shortest limit. */
const INSERT: Readonly<Record<DialectName, InsertWords>> = {
  mysql: { before: '/*M! SET STATEMENT innodb_lock_wait_timeout = 0 FOR */ ', after: '' },
  postgres: { before: '', after: ' ON CONFLICT DO NOTHING' },
  sqlite: { before: '', after: '' },
};

/** @param found a table without errors */
export function rowLockStatementsFor(
  found: InspectedTable,
  { dialect, table, waits }: { dialect: SqlDialect; table: TableDefinition; waits: boolean },
): RowLockStatements | undefined {
  const records = lockStatementsFor(found, { dialect, table, sharesSessions: false });
  if (records === undefined) return undefined;
  const { now } = records.shape;
  const { us, at } = dialect.runWords({ now, keyIndex: '', overridesClock: false });
  const quoted = quoteLockTable(asFound(table, found), dialect);
  const { table: into, name, lockUntil, lockedAt, lockedBy, fencingToken } = quoted;
  const { before, after } = INSERT[dialect.name];
  const named = (text: string): NamedStatement => new NamedStatement(text, dialect.placeholder);
  const record = `SELECT ${name} AS name, ${lockedBy} AS locked_by, CASE WHEN ${lockUntil} > ${now} THEN 1 ELSE 0 END AS held,
    ${us(lockUntil)} AS lock_until_us, ${us(now)} AS now_us`;
  const from = `FROM ${into} WHERE ${name} = :name FOR UPDATE`;
  return {
    insert: named(
      `${before}INSERT INTO ${into} (${name}, ${lockUntil}, ${lockedAt}, ${lockedBy}, ${fencingToken})
       VALUES (:name, ${now}, ${now}, '', 0)${after}`,
    ),
    lock: named(
      `${record}, GREATEST(${fencingToken} + 1, ${us(now)}) AS fencing_token ${from}${waits ? '' : ' NOWAIT'}`,
    ),
    settle: named(`${record}, ${fencingToken} AS fencing_token ${from} NOWAIT`),
    // The database clock may be set back while a job runs, so the end is compared with its current time.
    release: named(
      `UPDATE ${into} SET ${lockUntil} = GREATEST(${now}, ${at(':keptUntil')}), ${lockedAt} = ${at(':lockedAt')},
         ${lockedBy} = :owner, ${fencingToken} = :token
       WHERE ${name} = :name AND ${fencingToken} < :token`,
    ),
    inspect: records.inspect,
    records,
  };
}

/** What the row of a released lock holds as its owner. */
export function releasedOwner(owner: string): string {
  return `${owner}${RELEASED_MARK}`;
}
