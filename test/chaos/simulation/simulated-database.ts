import type { Clock } from 'cronlatch/provider';
import { BreakableStore } from '../../storage/contract-mutants/breakable-store';
import type { History } from '../history/history';
import type { Scheduler } from './scheduler';

type Breaks = (store: BreakableStore, localClock: Clock) => Partial<BreakableStore>;

/** One table, its clock, and what an operator or a failover may do to it. */
export class SimulatedDatabase {
  readonly #rows: BreakableStore['rows'] = new Map();
  /** Of the statement that runs. */
  readonly clock: Clock;
  /** What somebody has set its clock ahead by, or back. */
  clockAheadMs = 0;
  #statementAtMs = 0;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly history: History,
    private readonly breaks: Breaks,
  ) {
    const nowMs = (): number => this.#statementAtMs;
    this.clock = { monotonicMs: nowMs, wallMs: nowMs, schedule: () => () => {} };
  }

  /** The table, as the statements of one host have it. */
  table(localClock: Clock): BreakableStore {
    const store = new BreakableStore(this.clock, this.#rows);
    return Object.assign(store, this.breaks(store, localClock));
  }

  /** Runs a statement whose time is `nowMs`. */
  at<T>(nowMs: number, statement: () => Promise<T>): Promise<T> {
    this.#statementAtMs = nowMs + this.clockAheadMs;
    return statement();
  }

  delete(name: string): void {
    if (this.#rows.delete(name)) this.#damaged('deleted', name);
  }

  /** @returns a function that sets the table back to what it is now */
  snapshot(): () => void {
    const copy = new BreakableStore(this.clock, this.#rows).copyOfRows();
    return () => {
      const names = new Set([...copy.keys(), ...this.#rows.keys()]);
      this.#rows.clear();
      for (const [name, row] of copy) this.#rows.set(name, { ...row });
      for (const name of names) this.#damaged('rolled back', name);
    };
  }

  #damaged(kind: 'deleted' | 'rolled back', name: string): void {
    const { scheduler, history } = this;
    history.damages.push({ kind, name, atMs: scheduler.nowMs, order: history.nextOrder() });
  }
}
