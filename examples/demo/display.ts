import type { Board } from './board';
import { LiveTable } from './live-table';
import { PlainLines } from './plain-lines';

/** Shows the board. */
export interface Display {
  /** Something on the board changed. */
  update(): void;
  /** The row of the tick will not change any more. */
  completeRow(tick: number): void;
  /** Restores the terminal, with the last state above. */
  close(): void;
}

/** A table in a terminal that can draw one, plain lines otherwise. */
export function displayOf(board: Board, title: string, stdout: NodeJS.WriteStream): Display {
  const canDraw = stdout.isTTY && process.env['TERM'] !== 'dumb' && stdout.columns >= LiveTable.COLUMNS;
  return canDraw ? new LiveTable(board, title, stdout) : new PlainLines(board, title, stdout);
}
