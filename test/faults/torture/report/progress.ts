import type { Count } from '../judge/judge';
import { FAULTS, type Row } from '../rows';
import type { SideName } from '../slots';
import { expectedMs } from './expected-time';

const PLAIN_EVERY_MS = 10_000;

/** Shows the progress: lines that are redrawn in a terminal, or a line at intervals otherwise. */
export class Progress {
  /** The current sides: when they will end, and their text. */
  readonly #sides = new Map<string, { readonly overMs: number; text: string }>();
  #printedMs = performance.now();
  /** In a terminal, the lines to redraw. */
  #drawn: readonly string[] = [];

  constructor(private readonly out: NodeJS.WriteStream) {}

  goesOn(row: Row, side: SideName, { runs }: Count): void {
    const key = keyOf(row, side);
    const nowMs = performance.now();
    const { overMs } = this.#sides.get(key) ?? { overMs: nowMs + expectedMs(row, side) };
    const leftS = Math.ceil((overMs - nowMs) / 1000);
    const left = leftS > 0 ? `${leftS} s left` : 'about to end';
    this.#sides.set(key, { overMs, text: `${key}: ${runs} runs of ${row.fires} fires, ${left}` });
    this.#show();
  }

  settled(row: Row, side: SideName, count: Count): void {
    const key = keyOf(row, side);
    this.#sides.delete(key);
    const faults = FAULTS.map((fault) => `${fault}=${count[fault]}`).join(' ');
    this.print(`${key}: ${count.runs} runs of ${count.fires} fires: ${faults}`);
  }

  /** Prints a line that stays. */
  print(line: string): void {
    this.#erase();
    this.out.write(`${line}\n`);
  }

  #show(): void {
    const texts = [...this.#sides.values()].map(({ text }) => text);
    if (this.out.isTTY) this.#draw(texts);
    else if (performance.now() - this.#printedMs > PLAIN_EVERY_MS) {
      this.#printedMs = performance.now();
      this.out.write(`${texts.join('\n')}\n`);
    }
  }

  #draw(texts: readonly string[]): void {
    const width = (this.out.columns || 80) - 1;
    const drawn = texts.map((text) => text.slice(0, width));
    if (drawn.join() === this.#drawn.join()) return;
    this.#erase();
    this.out.write(`${drawn.join('\n')}\n`);
    this.#drawn = drawn;
  }

  #erase(): void {
    if (this.#drawn.length > 0) this.out.write(`\x1b[${this.#drawn.length}A\x1b[J`);
    this.#drawn = [];
  }
}

function keyOf(row: Row, side: SideName): string {
  return `row ${row.number}, ${side}`;
}
