import { imprecise, tooShort, wrongType } from './column-observations';
import type { ColumnUse, InspectedColumn } from './lock-table-shape';
import { RUN_KEY, type RunColumn, type RunColumnKind } from './run-columns';
import { refusal, type Observation } from './schema-finding';
import type { SqlDialect } from '../sql-dialect';

export interface RunColumnContext {
  readonly dialect: SqlDialect;
  /** The table that the column is in, quoted. */
  readonly table: string;
}

const USES: Readonly<Record<RunColumnKind['is'], ColumnUse>> = {
  id: 'integer',
  text: 'text',
  word: 'text',
  note: 'document',
  document: 'document',
  count: 'count',
  integer: 'integer',
  instant: 'instant',
};

/** Of what is cut when it is longer: room for the mark, too. */
const LEAST_LENGTHS = { note: 8 * 1024 + 256, document: 64 * 1024 + 256 };

/** What a user should know of one column of the ledger. */
export function observeRunColumn(
  column: RunColumn,
  found: InspectedColumn | undefined,
  context: RunColumnContext,
): Observation[] {
  const { name, kind, nullable } = column;
  if (found === undefined) return [missing(column, context)];
  const type = context.dialect.runColumns.type(kind);
  // Without a time zone, that of the session would decide.
  if (!found.holds.includes(USES[kind.is]) || (kind.is === 'instant' && found.hasTimeZone === false))
    return [wrongType(found, type)];
  const remedy = (to: string): string | undefined =>
    context.dialect.lockColumns.alter(context.table, context.dialect.quote(name), to, { nullable });
  switch (kind.is) {
    case 'id':
      return found.isRequired ? [notNumbered(found)] : [];
    case 'text':
      return [
        ...tooShort(found, kind.length, `it may have up to ${kind.length}`, remedy(type)),
        // The column keeps its width: a narrower one could cut what it holds.
        ...inexact(found, remedy(context.dialect.runColumns.type(widened(kind, found)))),
      ];
    case 'word':
      return tooShort(found, kind.length, `it may have up to ${kind.length}`, remedy(type));
    case 'note':
    case 'document':
      return [
        ...tooShort(
          found,
          LEAST_LENGTHS[kind.is],
          `it may have up to ${LEAST_LENGTHS[kind.is]}`,
          remedy(type),
        ),
        ...notUnicode(found, remedy(type)),
      ];
    case 'instant':
      if (found.isInSessionZone) return [inSessionZone(found, remedy(type))];
      return [
        ...imprecise(found, remedy(context.dialect.lockColumns.preciseInstant(found))),
        ...changing(found, remedy(type)),
      ];
    case 'count':
    case 'integer':
      return [];
  }
}

function missing({ name, kind, nullable }: RunColumn, { dialect, table }: RunColumnContext): Observation {
  if (!nullable) return refusal('missing-column', `has no column '${name}'. Create the table anew`);
  const add = `ALTER TABLE ${table} ADD COLUMN ${dialect.quote(name)} ${dialect.runColumns.type(kind)} NULL`;
  return refusal('missing-column', `has no column '${name}'`, add);
}

function notNumbered({ name }: InspectedColumn): Observation {
  return refusal(
    'column-needs-value',
    `has a column '${name}' that does not number its rows by itself. Create the table anew`,
  );
}

function widened<Kind extends { readonly length: number }>(
  kind: Kind,
  { length = 0 }: InspectedColumn,
): Kind {
  return { ...kind, length: Math.max(kind.length, length) };
}

/** The unique key would take one period for another. */
function inexact(found: InspectedColumn, remedy: string | undefined): Observation[] {
  const isKey = (RUN_KEY as readonly string[]).includes(found.name.toLowerCase());
  if (!isKey || found.comparesBytes !== false) return notUnicode(found, remedy);
  const what = `has a column '${found.name}' to which different names can be equal, as 'job' and 'Job'`;
  return [refusal('inexact-names', what, remedy)];
}

function notUnicode({ name, isUnicode }: InspectedColumn, remedy: string | undefined): Observation[] {
  if (isUnicode !== false) return [];
  return [refusal('inexact-names', `has a column '${name}' that does not take every character`, remedy)];
}

/** Our own sessions are in UTC, but `inRunTransaction` writes on a session of the application. */
function inSessionZone({ name, type }: InspectedColumn, remedy: string | undefined): Observation {
  const what = `has a column '${name}' of type ${type}: each session writes and reads it in its own time zone, and inRunTransaction() writes on a session of the application. Change the column in a session with time_zone '+00:00'`;
  return refusal('session-time-zone', what, remedy);
}

function changing({ name, changesByItself }: InspectedColumn, remedy: string | undefined): Observation[] {
  if (!changesByItself) return [];
  return [
    refusal('unstable-time', `has a column '${name}' that changes with every update of its row`, remedy),
  ];
}
