import type { Board } from './board';
import { LiveTable } from './live-table';
import { PlainLines } from './plain-lines';

/** Shows the board to whoever watches. */
export interface Display {
  /** Something on the board changed. */
  update(): void;
  /** As much has become of a tick as will. */
  tickOver(tick: number): void;
  /** Leaves the terminal as it was, with the last state above. */
  close(): void;
}

/** A table in a terminal that can draw one, plain lines elsewhere. */
export function displayOf(board: Board, title: string, stdout: NodeJS.WriteStream): Display {
  const canDraw = stdout.isTTY && process.env['TERM'] !== 'dumb' && stdout.columns >= LiveTable.COLUMNS;
  return canDraw ? new LiveTable(board, title, stdout) : new PlainLines(board, title, stdout);
}
