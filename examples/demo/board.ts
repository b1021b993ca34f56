import { TICK_MS, TICKS, WORKERS } from './settings';
import type { DayBoard } from './day-board';
import type { LineOf, TickEvent } from './witness';

/** The outcome of a tick in a worker. */
export type Cell =
  | {
      readonly state:
        'waiting' | 'fired' | 'running' | 'failed' | 'missed' | 'killed' | 'lease-left' | 'dead';
    }
  | { readonly state: 'ran'; readonly durationMs: number }
  | { readonly state: 'skipped'; readonly reason: string };

export interface Row {
  /** From 1. */
  readonly tick: number;
  readonly scheduledAt: number;
  readonly cells: readonly { readonly worker: string; readonly cell: Cell }[];
}

/** The data of the table: one row per tick, one cell per worker. The workers' messages fill it. */
export class Board {
  readonly #cells = new Map<string, Cell>();
  readonly #enteredAt = new Map<string, number>();
  readonly #killed = new Map<string, { readonly scheduledAt: number; readonly leaseUntil: number }>();

  /** @param day left out if there is no job of the day */
  constructor(
    readonly first: number,
    readonly day?: DayBoard,
  ) {}

  apply(line: LineOf<TickEvent>): void {
    const key = keyOf(line.scheduledAt, line.worker);
    if (line.event === 'enter') this.#enteredAt.set(key, line.at);
    this.#cells.set(key, this.#cellOf(line, this.#enteredAt.get(key) ?? line.at));
  }

  /** The killed worker's run holds the lock until `leaseUntil`; without a lock it leaves nothing behind. */
  bury(killed: LineOf<'killed'>, leaseUntil = -Infinity): void {
    this.apply(killed);
    this.#killed.set(killed.worker, { scheduledAt: killed.scheduledAt, leaseUntil });
  }

  /** The ticks so far. */
  rows(now: number): Row[] {
    const begun = Math.min(TICKS, Math.floor((now - this.first) / TICK_MS) + 1);
    return Array.from({ length: Math.max(0, begun) }, (_, index) => this.row(index + 1));
  }

  row(tick: number): Row {
    const scheduledAt = this.first + (tick - 1) * TICK_MS;
    return {
      tick,
      scheduledAt,
      cells: WORKERS.map((worker) => ({ worker, cell: this.#cell(scheduledAt, worker) })),
    };
  }

  #cell(scheduledAt: number, worker: string): Cell {
    const killed = this.#killed.get(worker);
    if (killed !== undefined && scheduledAt > killed.scheduledAt) {
      return { state: scheduledAt <= killed.leaseUntil ? 'lease-left' : 'dead' };
    }
    return this.#cells.get(keyOf(scheduledAt, worker)) ?? { state: 'waiting' };
  }

  #cellOf({ event, at, reason = '' }: LineOf<TickEvent>, enteredAt: number): Cell {
    switch (event) {
      case 'enter':
        return { state: 'running' };
      case 'exit':
        return { state: 'ran', durationMs: at - enteredAt };
      case 'skipped':
        return { state: 'skipped', reason };
      case 'fired':
      case 'failed':
      case 'missed':
      case 'killed':
        return { state: event };
    }
  }
}

function keyOf(scheduledAt: number, worker: string): string {
  return `${scheduledAt} ${worker}`;
}
