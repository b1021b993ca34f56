import type { QueryRunner } from 'typeorm';
import type { SqlConnection } from '../sql/connections/pooled-sql-executor';
import type { SqlDecide, SqlResult, SqlStatement } from '../sql/connections/sql-executor';
import type { ServerSession } from './server-session';

/** A session on the query runner of TypeORM that lends its connection. */
export class ServerConnection implements SqlConnection {
  /** `false` once the server is known to have ended it. */
  isAlive = true;

  /** @param giveBack what a release is; without it, the query runner's own */
  constructor(
    private readonly runner: QueryRunner,
    private readonly session: ServerSession,
    private readonly giveBack?: (connection: ServerConnection) => void,
  ) {}

  execute(statement: SqlStatement, endsAtMs: number): Promise<SqlResult> {
    return this.session.execute(statement, endsAtMs);
  }

  transaction<T>(first: SqlStatement, decide: SqlDecide<T>, endsAtMs: number): Promise<T> {
    return this.session.transaction(first, decide, endsAtMs);
  }

  rollBack(endsAtMs: number): Promise<boolean> {
    return this.session.rollBack(endsAtMs);
  }

  release(): void {
    if (this.giveBack === undefined) void this.runner.release();
    else this.giveBack(this);
  }

  destroy(): void {
    this.session.destroy();
    void this.runner.release();
  }
}
