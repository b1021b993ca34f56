import type { LockRequest, StatementOptions, StorageAccessor } from 'cronlatch/provider';
import type { Answer, Operation, Statement } from '../history/history';
import { acquisitionOf } from '../../support/databases/acquisition-of';
import type { SimulatedHost } from './simulated-host';
import { StatementWay, type World } from './statement-way';

/** The lock table as a host reaches it. It logs all statements. */
export class SimulatedAccessor implements StorageAccessor {
  /** By lock: the owner in the current attempt of this host. A host can request several locks at once. */
  readonly lastOwners = new Map<string, string>();
  readonly #way: StatementWay;

  constructor(
    private readonly world: World,
    private readonly host: SimulatedHost,
    private readonly table: StorageAccessor,
    readonly keepsTimeLimits: boolean,
  ) {
    this.#way = new StatementWay(world, host, keepsTimeLimits);
  }

  insertRecord: StorageAccessor['insertRecord'] = (request, options) => {
    this.lastOwners.set(request.name, request.owner);
    return this.#send('insert', request, options, () => this.table.insertRecord(request, options));
  };
  updateRecord: StorageAccessor['updateRecord'] = (request, options) => {
    this.lastOwners.set(request.name, request.owner);
    return this.#send('update', request, options, () => this.table.updateRecord(request, options));
  };
  extend: StorageAccessor['extend'] = (request, options) =>
    this.#send('extend', request, options, () => this.table.extend(request, options));
  unlock: StorageAccessor['unlock'] = (request, options) =>
    this.#send('unlock', request, options, () => this.table.unlock(request, options));
  find: StorageAccessor['find'] = (name, options) => {
    const request = { name, owner: this.lastOwners.get(name) ?? '', lockAtMostForMs: 0, lockAtLeastForMs: 0 };
    return this.#send('find', request, options, () => this.table.find(name, options));
  };

  #send<T extends Answer>(
    statement: Statement,
    request: LockRequest,
    { timeoutMs }: StatementOptions,
    run: () => Promise<T>,
  ): Promise<T> {
    const { history, scheduler } = this.world;
    const operation: Operation = {
      ...request,
      owner: acquisitionOf(request.owner),
      rowOwner: request.owner,
      host: this.host.id,
      statement,
      order: history.nextOrder(),
      invokedAtMs: scheduler.nowMs,
      outcome: 'unknown',
    };
    history.operations.push(operation);
    return this.#way.send({
      timeoutMs,
      run,
      // An insert that waits does so for another insert, and is then refused.
      mayWait: statement !== 'insert',
      endsWithClient: false,
      answered: (value, committed) => {
        operation.outcome = 'ok';
        const received = { atMs: scheduler.nowMs, order: history.nextOrder() };
        operation.answer = { value, ...committed, received };
      },
      failed: (outcome) => (operation.outcome = outcome === 'unknown' ? 'unknown' : 'fail'),
    });
  }
}
