import type { Clock } from 'cronlatch/provider';
import { BreakableStore } from '../../storage/contract-mutants/breakable-store';
import type { History } from '../history/history';
import type { Scheduler } from './scheduler';

type Breaks = (store: BreakableStore, localClock: Clock) => Partial<BreakableStore>;

/** One table, its clock, and what an operator or a failover can do to it. */
export class SimulatedDatabase {
  readonly #rows: BreakableStore['rows'] = new Map();
  /** The clock of the current statement. */
  readonly clock: Clock;
  /** How far its clock has been set ahead, or back if negative. */
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

  /** The table, as the statements of one host use it. */
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

  /** @returns a function that restores the current contents of the table */
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
