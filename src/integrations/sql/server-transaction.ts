import { ServerApplicationSession, type SessionLimits } from '../../storage/sql/database/application-session';
import type {
  BorrowedSession,
  IsolationLevel,
  ServerDriver,
} from '../../storage/sql/connections/server-driver';
import type { ServerApplication } from '../../storage/sql/database/application-source';
import type { RunTransaction, TransactionSource } from './run-databases';

/** The transactions of `inRunTransaction` on the connections of a driver, without an ORM. */
export function serverTransactions<Connection>(
  subpath: string,
  driver: ServerDriver,
  { database, owner, borrow }: ServerApplication<Connection>,
): TransactionSource<Connection> {
  return {
    subpath,
    database,
    owner,
    async open(limits) {
      const borrowed = await borrow();
      return new ServerTransaction(borrowed.connection, borrowed, driver, limits);
    },
  };
}

/** A transaction that cronlatch begins and ends on a connection of the application. */
class ServerTransaction<Connection> implements RunTransaction<Connection> {
  readonly session: ServerApplicationSession;
  readonly sendsBeforeCommit = false;
  isActive = false;

  /** @param connection what the job works with */
  constructor(
    readonly connection: Connection,
    private readonly borrowed: BorrowedSession,
    private readonly driver: ServerDriver,
    limits: SessionLimits,
  ) {
    this.session = new ServerApplicationSession(borrowed.session, driver, limits);
  }

  begin(isolationLevel: IsolationLevel | undefined): Promise<{ started: Promise<void> }> {
    return Promise.resolve({ started: this.#start(isolationLevel) });
  }

  async commit(): Promise<void> {
    await this.#end(this.driver.commit);
    this.isActive = false;
  }

  async rollBack(): Promise<void> {
    await this.#end(this.driver.rollBack);
    this.isActive = false;
  }

  release(): Promise<void> {
    this.borrowed.release();
    return Promise.resolve();
  }

  /** The caller limits its time. A limit here would end before that, with the connection still open. */
  async #end(text: string): Promise<void> {
    await this.borrowed.session.send({ id: '', text, values: [] }, { prepared: false });
  }

  async #start(isolationLevel: IsolationLevel | undefined): Promise<void> {
    this.isActive = true; // Even if the answer is lost.
    for (const text of this.driver.beginAt(isolationLevel)) await this.session.run(text);
  }
}
