import { LONGEST_OWNER } from '../../../core/lease/owner';
import { imprecise, inSessionZone, tooShort, wrongType } from './column-observations';
import type { LockColumns } from './lock-table';
import type { ColumnUse, InspectedColumn } from './lock-table-shape';
import { refusal, warning, type Observation } from './schema-finding';
import { quoteLockTable } from '../sql-dialect';
import type { VerificationContext } from './verify-lock-table';

type Key = keyof LockColumns;

const USES: Readonly<Record<Key, ColumnUse>> = {
  name: 'text',
  lockUntil: 'instant',
  lockedAt: 'instant',
  lockedBy: 'text',
  fencingToken: 'integer',
};

/** What a user should know of one column of the lock. */
export function observeColumn(
  key: Key,
  column: InspectedColumn | undefined,
  context: VerificationContext,
): Observation[] {
  if (column === undefined) return [observeMissing(key, context)];
  if (!column.holds.includes(USES[key])) {
    const { types } = context.dialect.lockColumns;
    return [wrongType(column, types(context.table.nameLength)[key])];
  }
  switch (key) {
    case 'name':
      return observeName(column, context);
    case 'lockedBy':
      return tooShort(column, LONGEST_OWNER, `an owner has up to ${LONGEST_OWNER}`, alter(key, context));
    case 'lockUntil':
    case 'lockedAt':
      return observeInstant(key, column, context);
    case 'fencingToken':
      return [];
  }
}

function observeMissing(key: Key, { dialect, table }: VerificationContext): Observation {
  const quoted = quoteLockTable(table, dialect);
  const column = `${quoted[key]} ${dialect.lockColumns.types(table.nameLength)[key]}`;
  const add = `ALTER TABLE ${quoted.table} ADD COLUMN ${column} NOT NULL`;
  if (key === 'fencingToken') {
    return warning(
      'no-fencing-token',
      `has no column '${table.columns[key]}', so its locks have no fencing token`,
      `${add} DEFAULT 0`,
    );
  }
  return refusal('missing-column', `has no column '${table.columns[key]}'. Create the table anew`);
}

function observeName(column: InspectedColumn, context: VerificationContext): Observation[] {
  const { dialect, table, sharesSessions } = context;
  const quoted = quoteLockTable(table, dialect);
  const observations = tooShort(
    column,
    table.nameLength,
    `nameLength is ${table.nameLength}: lower it, or widen the column`,
    alter('name', context),
  );
  if (!column.isUnique) {
    observations.push(
      refusal(
        'names-not-unique',
        `has no primary key or unique index on '${column.name}' alone: two instances could both insert a lock`,
        `CREATE UNIQUE INDEX ${dialect.quote(`${table.path.at(-1)}_${table.columns.name}`)} ON ${quoted.table} (${quoted.name})`,
      ),
    );
  }
  const nameLength = Math.max(table.nameLength, column.length ?? 0);
  const precise = alter('name', context, dialect.lockColumns.types(nameLength).name);
  if (column.isUnicode === false && sharesSessions) {
    observations.push(
      refusal(
        'inexact-names',
        `has a column '${column.name}' that does not take every character, and with connections: 'shared' the application's sessions may store another one instead`,
        precise,
      ),
    );
  } else if (column.comparesBytes === false) {
    observations.push(
      warning(
        'inexact-names',
        `has a column '${column.name}' to which different names can be equal, as 'job' and 'Job'. A lock that meets the row of another one is refused`,
        precise,
      ),
    );
  }
  return observations;
}

function observeInstant(
  key: 'lockUntil' | 'lockedAt',
  column: InspectedColumn,
  context: VerificationContext,
): Observation[] {
  const { name, changesByItself } = column;
  const precise = alter(key, context, context.dialect.lockColumns.preciseInstant(column));
  const observations = [...imprecise(column, precise), ...inSessionZone(column, context.sharesSessions)];
  if (key === 'lockedAt' && changesByItself) {
    const what = `has a column '${name}' that changes with every update, so that lockAtLeastFor would begin anew with every extension`;
    observations.push(refusal('unstable-time', what, precise));
  }
  return observations;
}

function alter(key: Key, { dialect, table }: VerificationContext, type?: string): string | undefined {
  const quoted = quoteLockTable(table, dialect);
  const { types, alter: alterColumn } = dialect.lockColumns;
  return alterColumn(quoted.table, quoted[key], type ?? types(table.nameLength)[key]);
}
