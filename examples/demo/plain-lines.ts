import type { Board, Cell } from './board';
import type { Display } from './display';
import { timeOf } from './time-of';

/** One line per tick, for files and pipes. */
export class PlainLines implements Display {
  constructor(
    private readonly board: Board,
    title: string,
    private readonly out: NodeJS.WritableStream,
  ) {
    out.write(`${title}\n`);
  }

  update(): void {}

  completeRow(tick: number): void {
    const { scheduledAt, cells } = this.board.row(tick);
    const texts = cells.map(({ worker, cell }) => `${worker} ${textOf(cell)}`.padEnd(26));
    this.out.write(`${timeOf(scheduledAt)}  ${texts.join('').trimEnd()}\n`);
  }

  close(): void {
    if (this.board.day !== undefined) this.out.write(`${this.board.day.text}\n`);
  }
}

function textOf(cell: Cell): string {
  switch (cell.state) {
    case 'ran':
      return `ran ${cell.durationMs} ms`;
    case 'skipped':
      return `skipped (${cell.reason})`;
    case 'killed':
      return 'KILLED in its run';
    case 'lease-left':
      return '- (its lease is left)';
    case 'dead':
      return '-';
    case 'waiting':
      return 'did not fire';
    case 'fired':
    case 'running':
    case 'failed':
    case 'missed':
      return cell.state;
  }
}
