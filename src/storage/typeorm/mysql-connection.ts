import type { QueryRunner } from 'typeorm';
import type { Clock } from '../../core';
import { withinLimit } from '../../core/clock';
import type { SqlConnection } from '../sql/pooled-sql-executor';
import { SqlExecutionError, type SqlResult, type SqlStatement } from '../sql/sql-executor';

/** What is called of a mysql2 connection. */
export interface MysqlConnection {
  promise(): { query(options: Record<string, unknown>): Promise<[unknown, unknown]> };
  destroy(): void;
}

/** Bit 0 of the status that MySQL sends with every answer: the statement stands inside a transaction, so nothing is committed. */
const IN_TRANSACTION = 1;

/** A connection of mysql2, as TypeORM's query runner hands it out. */
export class TypeOrmMysqlConnection implements SqlConnection {
  constructor(
    private readonly runner: QueryRunner,
    private readonly connection: MysqlConnection,
    private readonly clock: Clock,
  ) {}

  async execute({ text, values }: SqlStatement, endsAtMs: number): Promise<SqlResult> {
    const limitMs = endsAtMs - this.clock.monotonicMs();
    if (limitMs <= 0) throw new SqlExecutionError('no time was left for the statement', 'not-sent');
    const answered = await withinLimit(
      this.clock,
      this.connection.promise().query({ sql: text, values }),
      limitMs,
    );
    // The server may go on with it; the connection is destroyed, so that nobody meets its answer.
    if (answered === 'time-out')
      throw new SqlExecutionError(`no answer within ${Math.round(limitMs)} ms`, 'sent');
    const [answer] = answered;
    if (Array.isArray(answer))
      return { rows: answer as SqlResult['rows'], affectedRows: undefined, insertId: undefined };
    const { affectedRows, insertId, serverStatus } = answer as Record<string, unknown>;
    if (Number(serverStatus) & IN_TRANSACTION) {
      throw new SqlExecutionError(
        'the connection was left inside a transaction, which is rolled back now',
        'rolled-back',
      );
    }
    return { rows: [], affectedRows, insertId };
  }

  release(): void {
    void this.runner.release();
  }

  destroy(): void {
    this.connection.destroy();
    void this.runner.release();
  }
}
