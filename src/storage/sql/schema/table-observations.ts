import type { InspectedColumn, InspectedTable } from './lock-table-shape';
import { refusal, type Observation, type SchemaFinding } from './schema-finding';
import type { SqlDialect } from '../sql-dialect';

/** What there is to say of a table as such; of one that has no columns, or not as they must be kept, all there is. */
export function observeTable({ columns, unsuitable }: InspectedTable, migration: string): Observation[] {
  if (columns.length === 0)
    return [refusal('missing-table', `is missing, or this user may not see it: ${migration}`)];
  if (unsuitable !== undefined)
    return [refusal('unsuitable-table', `${unsuitable}. Let the migration make the table`)];
  return [];
}

/** @param ours the names of the columns that an insert gives a value @param row what is inserted: `lock` */
export function observeFurtherColumns(
  columns: readonly InspectedColumn[],
  ours: readonly string[],
  row: string,
  dialect: SqlDialect,
): Observation[] {
  return columns
    .filter((column) => column.isRequired && !ours.some((name) => isNamed(name, column, dialect)))
    .map(({ name }) =>
      refusal(
        'column-needs-value',
        `has a further column '${name}' that needs a value, so that no ${row} can be inserted. Give it a default`,
      ),
    );
}

export function columnNamed(
  name: string,
  columns: readonly InspectedColumn[],
  dialect: SqlDialect,
): InspectedColumn | undefined {
  return columns.find((column) => isNamed(name, column, dialect));
}

/** Says of which table it is. */
export function findingsOf(
  observations: readonly Observation[],
  path: readonly string[],
  address: string,
): readonly SchemaFinding[] {
  return observations.map(({ severity, code, what, remedy }) => {
    const run = remedy === undefined ? '' : ` Run: ${remedy};`;
    return { severity, code, message: `Table '${path.join('.')}' in ${address} ${what}.${run}`, remedy };
  });
}

export function isUsable(findings: readonly SchemaFinding[]): boolean {
  return findings.every(({ severity }) => severity === 'warning');
}

/** Of two instants, the database's now is taken as that one keeps it. */
export function leastPrecise(instants: readonly InspectedColumn[]): InspectedColumn | undefined {
  const digits = ({ precision = Infinity }: InspectedColumn): number => precision;
  return instants.reduce<InspectedColumn | undefined>(
    (least, column) => (least === undefined || digits(column) < digits(least) ? column : least),
    undefined,
  );
}

function isNamed(name: string, column: InspectedColumn, { inspection }: SqlDialect): boolean {
  return inspection.foldsColumnNames
    ? column.name.toLowerCase() === name.toLowerCase()
    : column.name === name;
}
