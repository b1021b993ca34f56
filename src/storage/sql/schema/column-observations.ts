import type { InspectedColumn } from './lock-table-shape';
import { refusal, type Observation } from './schema-finding';

/** With fewer digits of the second, what was just released or is just due would not be so for up to as long as the step. */
const LEAST_PRECISION = 3;

/** @param needed the type that the migration gives it */
export function wrongType({ name, type }: InspectedColumn, needed: string): Observation {
  return refusal(
    'wrong-type',
    `has a column '${name}' of type ${type}, which cannot hold what it should: it must be ${needed}. Create the table anew`,
  );
}

export function tooShort(
  { name, length }: InspectedColumn,
  needed: number,
  why: string,
  remedy: string | undefined,
): Observation[] {
  if (length === undefined || length >= needed) return [];
  return [refusal('column-too-short', `has a column '${name}' for ${length} characters, but ${why}`, remedy)];
}

export function imprecise({ name, precision }: InspectedColumn, remedy: string | undefined): Observation[] {
  if (precision === undefined || precision >= LEAST_PRECISION) return [];
  const what = `has a column '${name}' with ${precision} digits of the second, fewer than ${LEAST_PRECISION}`;
  return [refusal('imprecise-time', what, remedy)];
}

export function inSessionZone(
  { name, type, isInSessionZone }: InspectedColumn,
  sharesSessions: boolean,
): Observation[] {
  if (!isInSessionZone || !sharesSessions) return [];
  return [
    refusal(
      'session-time-zone',
      `has a column '${name}' of type ${type}, which is read in the time zone of the session, and with connections: 'shared' the sessions are the application's. Leave connections at 'own'`,
    ),
  ];
}
