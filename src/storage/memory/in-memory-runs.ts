import { randomUUID } from 'node:crypto';
import { systemClock, type Clock } from '../../core';
import type { Run, RunEvent, RunKey } from '../../ledger/run';

/** A run's row and its events, which only a store may change. */
export interface RunRow {
  run: Run;
  readonly events: RunEvent[];
}

/**
 * The tables of runs and events, in this process. Several stores over them stand for several instances of an
 * application. A host clock that is set forth or back moves nothing here.
 */
export class InMemoryRuns {
  readonly id = `memory/${randomUUID()}`;
  /** In the order of their making. */
  readonly #rows = new Map<string, RunRow>();
  readonly #clock: Clock;
  readonly #epochMs: number;

  constructor({ clock = systemClock }: { readonly clock?: Clock | undefined } = {}) {
    this.#clock = clock;
    this.#epochMs = clock.wallMs() - clock.monotonicMs();
  }

  now(): Date {
    return new Date(this.#epochMs + this.#clock.monotonicMs());
  }

  rows(): RunRow[] {
    return [...this.#rows.values()];
  }

  row(key: RunKey): RunRow | undefined {
    return this.#rows.get(textOf(key));
  }

  add(row: RunRow): void {
    this.#rows.set(textOf(row.run), row);
  }

  /** Removes a run with its events, as an operator's DELETE would. */
  delete(key: RunKey): boolean {
    return this.#rows.delete(textOf(key));
  }
}

function textOf({ job, scope, periodKey }: RunKey): string {
  return JSON.stringify([job, scope, periodKey]);
}
