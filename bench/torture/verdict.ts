import { FAULTS, type Row } from './rows';
import type { SideName } from './slots';
import type { Count } from './judge';

/** One row, on both sides. */
export interface RowResult {
  readonly row: Row;
  readonly counts: Readonly<Record<SideName, Count>>;
}

/** A sentence for each violation of cronlatch, and for each row that shows nothing. */
export function complaintsAbout(results: readonly RowResult[]): string[] {
  return results.flatMap(({ row, counts }) => {
    const { cronlatch, 'node-cron+redis': peer } = counts;
    const faults = FAULTS.filter((fault) => cronlatch[fault] > 0);
    return [
      ...faults.map(
        (fault) => `row ${row.number}: cronlatch ${fault}=${cronlatch[fault]}, and must have none.`,
      ),
      ...(isAimed(row) && cronlatch.hits === 0
        ? [`row ${row.number}: cronlatch received no blow, so the row shows nothing.`]
        : []),
      ...(peer[row.known] > 0
        ? []
        : [
            `row ${row.number}: node-cron+redis ${row.known}=0, and is known for it, so the row shows nothing.`,
          ]),
    ];
  });
}

/** The other kinds of blows happen all the time. */
function isAimed({ blow }: Row): boolean {
  return blow.kind === 'kill' || blow.kind === 'stop' || blow.kind === 'execute';
}
