import type { Testimony } from '../witness/testimony';
import type { Entry } from '../worker/journal';
import type { Evidence } from './evidence';

/**
 * A sequence of events, written by hand: a second is 1000 ms of the machine's time, and the database's clock
 * is the same.
 */
export class Story {
  readonly #journal: Evidence['journal'][number][] = [];
  readonly #testimonies: Testimony[] = [];
  #id = 0;

  /** Grants a worker the lock at `at`, which is also its token. */
  grant(worker: number, at: number, { atMostMs = 2000, atLeastMs = 0, token = at * 1000 } = {}): this {
    const id = (this.#id += 1);
    this.note(worker, at - 1, { k: 'request', id, name: 'job' });
    return this.note(worker, at + 1, {
      ...({ k: 'answer', id, name: 'job', verdict: 'granted' } as const),
      ...{ token, atMostMs, atLeastMs },
    });
  }

  release(worker: number, at: number, token: number, stillOurs: boolean): this {
    this.note(worker, at, { k: 'release', name: 'job', token });
    return this.note(worker, at + 1, { k: 'released', name: 'job', token, stillOurs });
  }

  /** The answer to a call of another process at that time. */
  answered(worker: number, at: number, verdict: 'held' | 'failed'): this {
    const id = (this.#id += 1);
    this.note(worker, at - 1, { k: 'request', id, name: 'job' });
    return this.note(worker, at + 1, { k: 'answer', id, name: 'job', verdict, atMostMs: 2000, atLeastMs: 0 });
  }

  inside(worker: number, from: number, until: number, token: number, ignoresItsSignal = false): this {
    const common = { worker, name: 'job', token, accepted: true };
    this.#testimonies.push({ ...common, atMs: from, event: 'enter', ignoresItsSignal });
    this.#testimonies.push({ ...common, atMs: until, event: 'leave' });
    return this;
  }

  note(worker: number, atMs: number, entry: Entry): this {
    this.#journal.push({ ...entry, atMs, worker, pid: worker });
    return this;
  }

  evidence(more: Partial<Evidence> = {}): Evidence {
    return {
      testimonies: [...this.#testimonies].sort((a, b) => a.atMs - b.atMs),
      journal: [...this.#journal].sort((a, b) => a.atMs - b.atMs),
      injections: [{ kind: 'SIGKILL', worker: 99, fromMs: 0, untilMs: 0 }],
      samples: [],
      runs: [],
      keys: [],
      keeper: 'table',
      wallAheadMs: 0,
      ...more,
    };
  }
}
