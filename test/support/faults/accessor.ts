import { LockStorageError } from 'cronlatch';
import type { StorageAccessor } from 'cronlatch/provider';

type Method = Exclude<keyof StorageAccessor, 'close' | 'keepsTimeLimits' | 'keepsRecords' | 'clockStepMs'>;
type Fault = (run: () => Promise<unknown>) => Promise<unknown>;

/** The statement took effect, but its reply was lost. */
export const replyLost: Fault = async (run) => {
  await run();
  throw new LockStorageError('reply lost', { outcome: 'unknown' });
};

/** The statement was lost before it took effect. */
export const sendingLost: Fault = () =>
  Promise.reject(new LockStorageError('sending lost', { outcome: 'unknown' }));
export const contended: Fault = () =>
  Promise.reject(new LockStorageError('deadlock', { outcome: 'contention' }));
export const refusedConnection: Fault = () =>
  Promise.reject(new LockStorageError('refused', { outcome: 'nothing-ran' }));
/** An error without an outcome, as a custom accessor may throw it. */
export const strangeError: Fault = () => Promise.reject(new TypeError('strange'));

/** Runs `first` before the statement, while it is in flight. */
export function delayedBy(first: () => void | Promise<void>): Fault {
  return async (run) => {
    await first();
    return await run();
  };
}

/** A store whose next statements fail in a given order, and that records its calls. */
export class FaultyAccessor implements StorageAccessor {
  readonly keepsRecords = true;
  readonly calls: Method[] = [];
  readonly #faults = new Map<Method, Fault[]>();

  constructor(private readonly store: StorageAccessor) {}

  fail(method: Method, ...faults: Fault[]): void {
    this.#faults.set(method, [...(this.#faults.get(method) ?? []), ...faults]);
  }

  /** Runs `first` before the next statement of this kind, while it is in flight. */
  delay(method: Method, first: () => void | Promise<void>): void {
    this.fail(method, delayedBy(first));
  }

  readonly insertRecord: StorageAccessor['insertRecord'] = (...args) =>
    this.#call('insertRecord', () => this.store.insertRecord(...args));
  readonly updateRecord: StorageAccessor['updateRecord'] = (...args) =>
    this.#call('updateRecord', () => this.store.updateRecord(...args));
  readonly extend: StorageAccessor['extend'] = (...args) =>
    this.#call('extend', () => this.store.extend(...args));
  readonly unlock: StorageAccessor['unlock'] = (...args) =>
    this.#call('unlock', () => this.store.unlock(...args));
  readonly deleteRecord: Required<StorageAccessor>['deleteRecord'] = (...args) =>
    this.#call('deleteRecord', () => this.#ofStore('deleteRecord')(...args));
  readonly deleteExpired: Required<StorageAccessor>['deleteExpired'] = (...args) =>
    this.#call('deleteExpired', () => this.#ofStore('deleteExpired')(...args));
  readonly list: Required<StorageAccessor>['list'] = (...args) =>
    this.#call('list', () => this.#ofStore('list')(...args));
  readonly find: StorageAccessor['find'] = (...args) => this.#call('find', () => this.store.find(...args));

  #ofStore<M extends 'deleteRecord' | 'deleteExpired' | 'list'>(method: M): Required<StorageAccessor>[M] {
    const found = this.store[method];
    if (found === undefined) throw new TypeError(`The store has no method '${method}'.`);
    return found.bind(this.store) as Required<StorageAccessor>[M];
  }

  #call<T>(method: Method, run: () => Promise<T>): Promise<T> {
    this.calls.push(method);
    const fault = this.#faults.get(method)?.shift();
    return fault === undefined ? run() : (fault(run) as Promise<T>);
  }
}

/**
 * The sender of the next statement of this kind gives up, and the statement arrives when the test delivers
 * it.
 */
export function sentLate(accessor: FaultyAccessor, method: Method): { arrive: () => Promise<unknown> } {
  let statement: (() => Promise<unknown>) | undefined;
  accessor.fail(method, (run) => {
    statement = run;
    return sendingLost(run);
  });
  return {
    arrive() {
      if (statement === undefined) throw new Error(`No statement '${method}' was sent.`);
      return statement();
    },
  };
}
