import { NamedStatement, type SqlResult, type SqlStatement } from '../connections/sql-executor';
import type { SqlDialect, TableLocation } from '../dialects/sql-dialect';
import type { InspectedIndex, InspectedTable } from './inspected-table';

/** One statement describes all tables, so it is one round trip. It is sent rarely, so it is not prepared. */
export function inspectionOf(
  tables: readonly TableLocation[],
  { inspection, placeholder }: SqlDialect,
): SqlStatement {
  const { before = '' } = inspection;
  const text = before + tables.map((_, number) => inspection.columns(number)).join('\n  UNION ALL');
  return { ...new NamedStatement(text, placeholder).bindMembers(tables.map(inspection.parameters)), id: '' };
}

/** Reads the table with this number from the answer. */
export function readTable(
  rows: SqlResult['rows'],
  number: number,
  { inspection }: SqlDialect,
): InspectedTable {
  const own = rows.filter((row) => Number(row['table_number']) === number);
  const indexes = indexesIn(own[0]?.['indexes']);
  return { ...inspection.read(own, indexes), indexes };
}

/** One part of an index. An expression has no column. */
type IndexPart = readonly [
  index: string | number,
  position: number,
  column: string | null,
  isUnique: number | boolean,
];

/** @param json the parts of all indexes, in any order */
function indexesIn(json: unknown): readonly InspectedIndex[] {
  const parts = typeof json === 'string' ? (JSON.parse(json) as readonly IndexPart[]) : [];
  const names = new Set(parts.map(([index]) => index));
  return [...names].sort().map((name) => {
    const own = parts.filter(([index]) => index === name).sort(([, a], [, b]) => a - b);
    return {
      name: String(name),
      columns: own.map(([, , column]) => String(column)),
      isUnique: own.every(([, , , isUnique]) => Boolean(isUnique)),
    };
  });
}
