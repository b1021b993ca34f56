import { SchemaMismatchError } from 'cronlatch';
import type { StatementOptions } from 'cronlatch/provider';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';
import type { Claim, Run } from '#cronlatch/ledger/run';
import { overlay } from '../../../storage/contract-mutants/overlay';
import { keyTextOf, type RunStatement } from '../../history/ledger/ledger-history';
import type { SimulatedHost } from '../simulated-host';
import { StatementWay } from '../statement-way';
import type { LedgerWorld } from './ledger-world';
import type { RunStore } from '#cronlatch/ledger/run-store';
import { WithoutRegister } from '../../../support/stores/without-register';

/** The store of runs as a host reaches it. It logs all statements that change runs, and their changes. */
export class SimulatedRunStore extends WithoutRegister implements RunStore {
  readonly #way: StatementWay;
  readonly #table: RunStore;

  constructor(
    private readonly world: LedgerWorld,
    private readonly host: SimulatedHost,
  ) {
    super();
    const { runs, breakage } = world;
    const right: RunStore = new InMemoryRunStore({ runs });
    this.#table = overlay(right, breakage.store?.(right, runs) ?? {});
    this.#way = new StatementWay(world, host, true);
  }

  peek: RunStore['peek'] = (request, options) =>
    this.#read(options, () => this.#table.peek(request, options));
  overdue: RunStore['overdue'] = (jobs, options) =>
    this.#read(options, () => this.#table.overdue(jobs, options));
  find: RunStore['find'] = (query, options) => this.#read(options, () => this.#table.find(query, options));
  events: RunStore['events'] = (key, options) => this.#read(options, () => this.#table.events(key, options));
  purge: RunStore['purge'] = (request, options) =>
    this.#read(options, () => this.#table.purge(request, options));

  /** Without a register, runs before the start of an instance count, too. */
  override readonly jobs: RunStore['jobs'] = () => Promise.reject(new SchemaMismatchError('no register'));

  insert: RunStore['insert'] = (run, options) =>
    this.#write('insert', run.started?.claimedBy, options, () => this.#table.insert(run, options));
  change: RunStore['change'] = (key, decide, options) =>
    this.#write('change', undefined, options, () => this.#table.change(key, decide, options));
  complete: RunStore['complete'] = (claim: Claim, result, options) =>
    this.#write('complete', claim.claimedBy, options, () => this.#table.complete(claim, result, options));

  #read<T>({ timeoutMs }: StatementOptions, run: () => Promise<T>): Promise<T> {
    return this.#way.send({
      ...{ timeoutMs, mayWait: false, endsWithClient: false, run },
      answered: () => {},
      failed: () => {},
    });
  }

  #write<T>(
    statement: RunStatement['statement'],
    claimedBy: string | undefined,
    { timeoutMs }: StatementOptions,
    run: () => Promise<T>,
  ): Promise<T> {
    const { history, ledger } = this.world;
    const order = history.nextOrder();
    const sent: RunStatement = { host: this.host.id, statement, claimedBy, order, outcome: 'unknown' };
    ledger.statements.push(sent);
    return this.#way.send({
      timeoutMs,
      run: () => this.#logged(sent, run),
      // An insert that waits does so for another insert, and is then refused.
      mayWait: statement !== 'insert',
      endsWithClient: statement === 'change',
      answered: () => (sent.outcome = 'ok'),
      failed: (outcome) => (sent.outcome = outcome === 'unknown' ? 'unknown' : 'fail'),
    });
  }

  async #logged<T>(by: RunStatement, run: () => Promise<T>): Promise<T> {
    const { history, ledger, scheduler } = this.world;
    const before = this.#rows();
    const value = await run();
    for (const [key, after] of this.#rows()) {
      if (before.get(key) === after) continue;
      const change = { key, job: after.job, by, before: before.get(key), after };
      ledger.changes.push({ ...change, atMs: scheduler.nowMs, order: history.nextOrder() });
    }
    return value;
  }

  /** A written row is a new object. */
  #rows(): Map<string, Run> {
    return new Map(this.world.runs.rows().map(({ run }) => [keyTextOf(run), run]));
  }
}
