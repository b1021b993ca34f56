import { observeColumn } from './observe-column';
import type { LockColumns, LockTable } from './lock-table';
import type { InspectedColumn, InspectedTable, LockTableShape } from './lock-table-shape';
import { migrationFor } from './migration-for';
import { refusal, warning, type Observation, type SchemaFinding } from './schema-finding';
import { quoteLockTable, type SqlDialect } from '../sql-dialect';
import {
  columnNamed,
  findingsOf,
  isUsable,
  leastPrecise,
  observeFurtherColumns,
  observeTable,
} from './table-observations';

export interface VerificationContext {
  readonly dialect: SqlDialect;
  readonly table: LockTable;
  /** Names the database, without credentials. */
  readonly address: string;
  /** The sessions are the application's, with the time zone and the strictness that it has given them. */
  readonly sharesSessions: boolean;
}

export interface LockTableVerdict {
  readonly findings: readonly SchemaFinding[];
  /** `undefined` where a finding is an error. */
  readonly shape: LockTableShape | undefined;
}

/** Whether locks can be kept in a table as the database describes it, and by which statements. */
export function verifyLockTable(inspected: InspectedTable, context: VerificationContext): LockTableVerdict {
  const findings = findingsOf(observe(inspected, context), context.table.path, context.address);
  return { findings, shape: isUsable(findings) ? shapeOf(inspected, context) : undefined };
}

function observe(inspected: InspectedTable, context: VerificationContext): Observation[] {
  const { table, dialect } = context;
  const observations = observeTable(inspected, migrationFor(table));
  if (observations.length > 0) return observations;
  const { columns } = inspected;
  const keys = Object.keys(table.columns) as (keyof LockColumns)[];
  return [
    ...keys.flatMap((key) => observeColumn(key, columnOf(key, columns, context), context)),
    ...observeZones(columns, context),
    ...observeOtherSessions(inspected, context),
    ...observeFurtherColumns(columns, Object.values<string>({ ...table.columns }), 'lock', dialect),
  ];
}

/** Each instant is computed from the other one, too. */
function observeZones(columns: readonly InspectedColumn[], context: VerificationContext): Observation[] {
  const [lockUntil, lockedAt] = (['lockUntil', 'lockedAt'] as const)
    .map((key) => columnOf(key, columns, context))
    .filter((column) => column?.holds.includes('instant'));
  if (!lockUntil || !lockedAt || lockUntil.hasTimeZone === lockedAt.hasTimeZone) return [];
  const types = `'${lockUntil.name}' of type ${lockUntil.type} and '${lockedAt.name}' of type ${lockedAt.type}`;
  return [
    refusal(
      'wrong-type',
      `has columns ${types}, of which only one has a time zone, so that the session's would decide. Create the table anew`,
    ),
  ];
}

/** ShedLock for Java writes UTC in whatever zone its sessions have. Our own sessions are right in any case. */
function observeOtherSessions(inspected: InspectedTable, context: VerificationContext): Observation[] {
  const { table, dialect, sharesSessions } = context;
  const [lockUntil, lockedAt, fencingToken] = (['lockUntil', 'lockedAt', 'fencingToken'] as const).map(
    (key) => columnOf(key, inspected.columns, context),
  );
  if (!lockUntil?.holds.includes('instant') || !lockedAt) return [];
  const isInOtherZone = lockUntil.isInSessionZone && inspected.isServerInUtc === false && !sharesSessions;
  const isMadeForJava = lockUntil.hasTimeZone && fencingToken === undefined;
  if (!isInOtherZone && !isMadeForJava) return [];
  const quoted = quoteLockTable(table, dialect);
  return [
    warning(
      'session-time-zone',
      `has a column '${lockUntil.name}' of type ${lockUntil.type}${isInOtherZone ? ', and the time zone of the server is not UTC' : ''}. If ShedLock for Java uses this table, its sessions must have the time zone UTC, or the two sides do not see each other's locks. To let Java keep its zone, change the columns in a session with that zone, while no job runs`,
      dialect.lockColumns.withoutTimeZone?.(quoted),
    ),
  ];
}

function shapeOf(
  { columns, hasSessionClock = false }: InspectedTable,
  context: VerificationContext,
): LockTableShape | undefined {
  const [name, lockUntil, lockedAt, fencingToken] = (
    ['name', 'lockUntil', 'lockedAt', 'fencingToken'] as const
  ).map((key) => columnOf(key, columns, context));
  if (!name || !lockUntil || !lockedAt) return undefined;
  const { now, checkedNow } = context.dialect.inspection;
  const overridesClock = hasSessionClock && context.sharesSessions;
  const plainNow = now(leastPrecise([lockUntil, lockedAt]) ?? lockUntil);
  return {
    clockStepMs: stepMsOf(leastPrecise([lockUntil, lockedAt]) ?? lockUntil),
    now: overridesClock && checkedNow ? checkedNow(plainNow) : plainNow,
    hasToken: fencingToken !== undefined,
    comparesBytes: name.comparesBytes ?? true,
    insertReturnsToken: !columns.some(({ isGenerated }) => isGenerated),
    overridesClock,
  };
}

/** A column without digits of its own keeps what the clock of its database has: that of SQLite steps in milliseconds. */
function stepMsOf({ precision = 3 }: InspectedColumn): number {
  return precision >= 6 ? 0 : 1000 / 10 ** precision;
}

function columnOf(
  key: keyof LockColumns,
  columns: readonly InspectedColumn[],
  context: VerificationContext,
): InspectedColumn | undefined {
  return columnNamed(context.table.columns[key], columns, context.dialect);
}
