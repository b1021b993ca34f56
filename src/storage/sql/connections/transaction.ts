import { withinLimitOr } from '../../../core/clock';
import type { ConnectionSettings } from './server-connections';
import type { DriverSession, IsolationLevel, ServerDriver, TransactionWatch } from './server-driver';
import type { NodeWait, SqlResult, SqlStatement } from '../statements/statement';

export type Limits = Pick<ConnectionSettings, 'clock' | 'statementTimeoutMs'>;

/** A transaction of the application, in which a run can be completed. */
export interface Transaction {
  /** Sends a statement inside it. Rejects with the driver's error. */
  send(statement: SqlStatement): Promise<SqlResult>;
  /** Asks the database, because statements can end a transaction without the client noticing. */
  isOpen(): Promise<boolean>;
  /** Watches its end. `undefined` on MySQL, where the answer to COMMIT is the same after a rollback. */
  watchEnd?(): TransactionWatch | undefined;
  /** Limits how long the server keeps it open while it is idle. SQLite has no such limit. */
  readonly idleLimit?: ServerDriver['idleLimit'];
  /** Ends the connection at once, so that the server rolls it back. */
  destroy?(): void;
}

/** A transaction that `inRunTransaction` begins and ends. */
export interface RunTransaction<Connection> extends Transaction {
  readonly connection: Connection;
  /** Whether it has begun, and its client considers it open. */
  readonly isActive: boolean;
  /** Whether other code can send statements between the completion and COMMIT. */
  readonly sendsBeforeCommit: boolean;
  /** Waits until no other transaction uses the connection, and begins. */
  begin(isolationLevel: IsolationLevel | undefined): Promise<void>;
  commit(): Promise<void>;
  /** Ends one level of nested transactions. */
  rollBack(): Promise<void>;
  release(): Promise<void> | void;
}

/** Rejects if the database does not answer a statement in time. */
export function answerOf<T>(sent: Promise<T>, { clock, statementTimeoutMs }: Limits): Promise<T> {
  const timeoutError = (): Error => new Error(`The database did not answer within ${statementTimeoutMs} ms.`);
  return withinLimitOr(clock, sent, statementTimeoutMs, timeoutError);
}

const plain = (text: string): SqlStatement => ({ id: '', text, values: [] });

/** The transaction that is open on a connection to a server. */
export function serverTransaction(
  session: DriverSession,
  driver: ServerDriver,
  limits: Limits,
): Required<Transaction> {
  const send = (statement: SqlStatement): Promise<SqlResult> =>
    answerOf(session.send(statement, { prepared: false }), limits);
  return {
    send,
    isOpen: async () => (await send(plain(driver.probe))).inTransaction !== false,
    watchEnd: () => session.watchEnd?.(),
    idleLimit: driver.idleLimit,
    destroy: () => session.destroy(),
  };
}

/** The transaction of `inRunTransaction` on a connection that a pool has lent. */
export function pooledTransaction<Connection>(
  lent: { readonly connection: Connection; readonly session: DriverSession; readonly release: () => void },
  driver: ServerDriver,
  limits: Limits,
): RunTransaction<Connection> {
  const { connection, session } = lent;
  const transaction = serverTransaction(session, driver, limits);
  let isActive = false;
  /** The caller limits its time. A limit here would end before that, with the connection still open. */
  const end = async (text: string): Promise<void> => {
    await session.send(plain(text), { prepared: false });
    isActive = false;
  };
  return {
    ...transaction,
    connection,
    sendsBeforeCommit: false,
    get isActive() {
      return isActive;
    },
    async begin(isolationLevel) {
      isActive = true; // Even if the answer is lost.
      for (const text of driver.beginAt(isolationLevel)) await transaction.send(plain(text));
    },
    commit: () => end(driver.commit),
    rollBack: () => end(driver.rollBack),
    release: () => lent.release(),
  };
}

/** Settings of a transaction's session that are restored after it. */
export class ChangedSettings {
  readonly #restoring: string[] = [];

  constructor(private readonly transaction: Transaction) {}

  async change({
    begin,
    end,
  }: Pick<NodeWait, 'begin'> & { readonly end: string | undefined }): Promise<void> {
    if (end !== undefined) this.#restoring.push(end); // Even if the answer is lost.
    await this.transaction.send(plain(begin));
  }

  async restore(): Promise<void> {
    for (const text of this.#restoring) await this.transaction.send(plain(text));
  }
}
