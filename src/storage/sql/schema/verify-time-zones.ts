import type { InspectedColumn, InspectedTable } from './inspected-table';
import { refusal, warning, type TableFlaw } from './schema-finding';
import { tolerates, type ColumnContext, type ColumnPair } from './verify-column';

/** Checks the time zones of instants whose type may differ from the migration's: those of the lock table. */
export function verifyTimeZones(
  pairs: readonly ColumnPair[],
  table: InspectedTable,
  context: ColumnContext,
): TableFlaw[] {
  const instants = pairs.filter(({ column }) => tolerates(column, 'any-time-zone'));
  const [lockUntil, lockedAt] = instants.map(({ found }) => found);
  if (!lockUntil?.holds.includes('instant') || !lockedAt) return [];
  const hasToken = pairs.every(({ column, found }) => found !== undefined || !tolerates(column, 'absence'));
  const names = instants.map(({ column }) => context.dialect.quote(column.name));
  const remedy = context.dialect.columnTypes.withoutTimeZone?.(context.table, names);
  return [
    ...mixedZones(lockUntil, lockedAt),
    ...otherSessions(lockUntil, table, { hasToken, sharesSessions: context.sharesSessions }, remedy),
  ];
}

/** Statements compute each instant from the other one. */
function mixedZones(lockUntil: InspectedColumn, lockedAt: InspectedColumn): TableFlaw[] {
  if (!lockedAt.holds.includes('instant') || lockUntil.hasTimeZone === lockedAt.hasTimeZone) return [];
  const types = `'${lockUntil.name}' of type ${lockUntil.type} and '${lockedAt.name}' of type ${lockedAt.type}`;
  const problem = `has columns ${types}, but only one of them has a time zone, so times would depend on the session. Recreate the table`;
  return [refusal('wrong-type', problem)];
}

/** ShedLock for Java writes UTC values in any time zone of its sessions. Our own sessions are always in UTC. */
function otherSessions(
  { name, type, isInSessionZone, hasTimeZone }: InspectedColumn,
  { isServerInUtc }: InspectedTable,
  { hasToken, sharesSessions }: { readonly hasToken: boolean; readonly sharesSessions: boolean },
  remedy: string | undefined,
): TableFlaw[] {
  const isInOtherZone = isInSessionZone && isServerInUtc === false && !sharesSessions;
  const isMadeForJava = hasTimeZone && !hasToken;
  if (!isInOtherZone && !isMadeForJava) return [];
  const zone = isInOtherZone ? ', and the time zone of the server is not UTC' : '';
  const problem = `has a column '${name}' of type ${type}${zone}. If ShedLock for Java uses this table, set the time zone of its sessions to UTC, or the two misread each other's times: east of UTC, Java's job does not run for hours after each lock of cronlatch, and cronlatch does not see Java's locks. West of UTC, it is the other way round. To keep Java's zone instead, change the columns in a session with that zone while no job runs`;
  return [warning('session-time-zone', problem, remedy)];
}
