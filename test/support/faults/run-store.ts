import type { Clock, StatementOptions } from 'cronlatch/provider';
import { signal } from '../benches/executor';
import type { Instance, LedgerPlace } from '../stores/ledger-place';
import { sendingLost, type contended } from './accessor';
import type { RunStore } from '#cronlatch/ledger/run-store';
import type { GuardOptions } from '../benches/guard-with-runs';
import { WithoutRegister } from '../stores/without-register';

type Fault = typeof contended;
type Statement = 'peek' | 'overdue' | 'insert' | 'change' | 'complete';

/** A store of runs whose next statements fail in a given order, and that records its calls. */
export class FaultyRunStore extends WithoutRegister implements RunStore {
  readonly calls: Statement[] = [];
  /** The time limits of those calls. */
  readonly limitsMs: number[] = [];
  readonly #faults = new Map<Statement, Fault[]>();

  constructor(private readonly inner: RunStore) {
    super();
  }

  fail(statement: Statement, ...faults: Fault[]): void {
    this.#faults.set(statement, [...(this.#faults.get(statement) ?? []), ...faults]);
  }

  readonly peek: RunStore['peek'] = (request, options) =>
    this.#call('peek', options, () => this.inner.peek(request, options));
  readonly overdue: RunStore['overdue'] = (jobs, options) =>
    this.#call('overdue', options, () => this.inner.overdue(jobs, options));
  readonly insert: RunStore['insert'] = (run, options) =>
    this.#call('insert', options, () => this.inner.insert(run, options));
  readonly change: RunStore['change'] = (key, decide, options) =>
    this.#call('change', options, () => this.inner.change(key, decide, options));
  readonly complete: RunStore['complete'] = (claim, result, options) =>
    this.#call('complete', options, () => this.inner.complete(claim, result, options));
  override readonly registerJobs: RunStore['registerJobs'] = (...args) => this.inner.registerJobs(...args);
  override readonly jobs: RunStore['jobs'] = (...args) => this.inner.jobs(...args);
  readonly find: RunStore['find'] = (...args) => this.inner.find(...args);
  readonly events: RunStore['events'] = (...args) => this.inner.events(...args);
  readonly purge: RunStore['purge'] = (...args) => this.inner.purge(...args);

  async #call<T>(statement: Statement, { timeoutMs }: StatementOptions, run: () => Promise<T>): Promise<T> {
    this.calls.push(statement);
    this.limitsMs.push(timeoutMs);
    const fault = this.#faults.get(statement)?.shift();
    return fault === undefined ? await run() : ((await fault(run)) as T);
  }
}

/** A statement in flight, until the test lets it arrive. */
export class HeldStatement {
  readonly #sent = signal();
  readonly #let = signal();
  readonly #arrived = signal<unknown>();

  /** The caller waits for the statement. */
  readonly waitedFor: Fault = async (run) => {
    this.#sent.resolve();
    await this.#let.promise;
    this.#arrived.resolve(run());
    return await this.#arrived.promise;
  };

  /** The caller gets an error with an unknown outcome, and continues. */
  readonly givenUp: Fault = async (run) => {
    void this.waitedFor(run).catch(() => {}); // `arrive` returns its outcome.
    return await sendingLost(run);
  };

  /** Resolves when the statement is in flight. */
  get sent(): Promise<void> {
    return this.#sent.promise;
  }

  /** Resolves to the store's result, even if the caller no longer waits for it. */
  async arrive(): Promise<unknown> {
    this.#let.resolve();
    return await this.#arrived.promise;
  }
}

/** Pauses between retries are not longer than this. */
const LONGEST_PAUSE_MS = 1500;

/** A clock without pauses between retries. */
function withoutPauses(clock: Clock): Clock {
  return {
    monotonicMs: () => clock.monotonicMs(),
    wallMs: () => clock.wallMs(),
    schedule(delayMs, callback, options) {
      if (delayMs > LONGEST_PAUSE_MS) return clock.schedule(delayMs, callback, options);
      const immediate = setImmediate(callback);
      return () => clearImmediate(immediate);
    },
  };
}

/** An instance with faulty statements on runs. It retries without a pause. */
export function faultyInstance(
  place: LedgerPlace,
  options: Partial<GuardOptions> = {},
): Instance & { readonly faulty: FaultyRunStore } {
  const faulty = new FaultyRunStore(place.instance().store);
  return { ...place.instance({ ...options, runStore: faulty, clock: withoutPauses(place.clock) }), faulty };
}
