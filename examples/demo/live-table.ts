import { styleText } from 'node:util';
import type { Board, Row } from './board';
import type { Display } from './display';
import { drawCell } from './draw-cell';
import { TICKS, WORKERS } from './settings';
import { timeOf } from './time-of';

type Style = Parameters<typeof styleText>[0];
export type Painter = (style: Style, text: string) => string;

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const ERASE_REST_OF_LINE = '\x1b[K';
const MOST_ROWS = 15;
/** Title, heads, the day, legend, progress, two empty lines, and the line of the cursor. */
const OTHER_LINES = 8;
const CELL_WIDTH = 15;

/** A table that redraws itself. */
export class LiveTable implements Display {
  static readonly COLUMNS = 79;
  readonly #paint: Painter;
  #drawnLines = 0;

  constructor(
    private readonly board: Board,
    private readonly title: string,
    private readonly out: NodeJS.WriteStream,
  ) {
    // The stream also checks NO_COLOR.
    this.#paint = out.hasColors() ? styleText : (_style, text) => text;
    out.write(HIDE_CURSOR);
    this.update();
  }

  update(): void {
    const lines = this.#lines();
    const toTheTop = this.#drawnLines === 0 ? '' : `\x1b[${this.#drawnLines}A`;
    this.out.write(`${toTheTop}\r${lines.map((line) => `${line}${ERASE_REST_OF_LINE}\n`).join('')}`);
    this.#drawnLines = lines.length;
  }

  completeRow(): void {
    this.update();
  }

  close(): void {
    this.update();
    this.out.write(SHOW_CURSOR);
  }

  #lines(): string[] {
    const paint = this.#paint;
    const shown = Math.max(1, Math.min(MOST_ROWS, (this.out.rows || 24) - OTHER_LINES));
    const rows = this.board.rows(Date.now());
    const visible = rows.slice(-shown).map((row) => this.#row(row));
    const heads = WORKERS.map((worker) => worker.padEnd(CELL_WIDTH)).join('');
    return [
      paint('bold', this.title),
      '',
      paint('dim', `tick  due       ${heads}`.trimEnd()),
      ...visible,
      ...Array.from({ length: shown - visible.length }, () => ''),
      '',
      ...(this.board.day === undefined ? [] : [this.board.day.text]),
      this.#legend(),
      this.#progress(rows.length),
    ];
  }

  #row({ tick, scheduledAt, cells }: Row): string {
    const drawn = cells.map(({ cell }) => drawCell(cell, CELL_WIDTH, this.#paint)).join('');
    return `${String(tick).padStart(4)}  ${timeOf(scheduledAt)}  ${drawn}`;
  }

  #legend(): string {
    const paint = this.#paint;
    const parts = [
      `${paint('green', '■')} ran`,
      `${paint('dim', '·')} skipped, the lock was held`,
      `${paint('red', '✗')} killed in its run`,
      `${paint('yellow', '◌')} its lease is left`,
    ];
    return parts.join('   ');
  }

  #progress(ticks: number): string {
    const done = '━'.repeat(ticks);
    const open = '─'.repeat(TICKS - ticks);
    return `tick ${ticks}/${TICKS}  ${this.#paint('green', done)}${this.#paint('dim', open)}`;
  }
}
