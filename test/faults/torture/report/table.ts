import type { RowResult } from '../judge/verdict';
import { FAULTS } from '../rows';
import { SIDES } from '../slots';

/** The result of every row, one line per side. */
export function tableOf(results: readonly RowResult[]): string {
  const lines = results.flatMap(({ row, counts }) => [
    `${row.number}  ${row.title}`,
    ...SIDES.map((side) => {
      const count = counts[side];
      return line(side, [count.fires, count.runs, ...FAULTS.map((fault) => count[fault])]);
    }),
  ]);
  return [line('', ['fires', 'runs', ...FAULTS]), ...lines].join('\n');
}

function line(name: string, cells: readonly (string | number)[]): string {
  return `   ${name.padEnd(18)}${cells.map((cell) => String(cell).padStart(11)).join('')}`;
}
