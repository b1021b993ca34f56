import type { Cell } from './board';
import type { Painter } from './live-table';

/** A cell of the live table, with the given width on the screen. */
export function drawCell(cell: Cell, width: number, paint: Painter): string {
  const [style, text] = appearanceOf(cell);
  return paint(style, text) + ' '.repeat(Math.max(0, width - text.length));
}

function appearanceOf(cell: Cell): [style: Parameters<Painter>[0], text: string] {
  switch (cell.state) {
    case 'running':
      return ['green', '■ RUN …'];
    case 'ran':
      return ['green', `■ RUN ${cell.durationMs} ms`];
    case 'skipped':
      return ['dim', `· ${cell.reason}`];
    case 'killed':
      return [['red', 'bold'], '✗ KILLED'];
    case 'lease-left':
      return ['yellow', '◌ lease left'];
    case 'failed':
    case 'missed':
      return ['red', `! ${cell.state}`];
    case 'dead':
      return ['dim', '  dead'];
    case 'fired':
    case 'waiting':
      return ['dim', '  …'];
  }
}
