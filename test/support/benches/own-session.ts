import type { DataSource } from 'typeorm';
import { DatabaseAccess } from '#cronlatch/storage/sql/database/database-access';
import { SqlLockProvider } from '#cronlatch/storage/sql/database/sql-lock-provider';
import { SqlRunStore } from '#cronlatch/storage/sql/ledger/sql-run-store';
import type { SqlRow, SqlSession } from '#cronlatch/storage/sql/statements/statement';
import { databaseOf } from '#cronlatch/storage/typeorm/database';

/** A lock provider and a store of runs. As long as nothing happens at the same time, both use one session of their own. */
export class OwnSession {
  readonly provider: SqlLockProvider;
  readonly runs: SqlRunStore;
  readonly #access: DatabaseAccess;
  #setClock: string | undefined;

  constructor(application: DataSource) {
    const database = databaseOf(application);
    this.#access = new DatabaseAccess(database, {});
    const { forTables } = this.#access;
    const { connections } = forTables;
    const run: typeof connections.run = (use, limit) =>
      connections.run(async (session, endsAtMs) => {
        if (this.#setClock !== undefined) await send(session, this.#setClock, endsAtMs);
        return await use(session, endsAtMs);
      }, limit);
    const prepared = { nodeWait: undefined, isFree: connections.isFree.bind(connections), run };
    Object.assign(this.#access, { forTables: { ...forTables, connections: prepared } });
    this.provider = new SqlLockProvider(database, {}, this.#access);
    this.runs = new SqlRunStore(this.#access.forRuns({}));
  }

  /** Sends the statement in the session, unprepared. */
  async query<Row = SqlRow>(text: string): Promise<Row[]> {
    const { run } = this.#access.forTables.connections;
    const rows = await run((session, endsAtMs) => send(session, text, endsAtMs), { timeoutMs: 5000 });
    return rows as Row[];
  }

  /** On MySQL and MariaDB: from now on, the clock of all its sessions stands still at this time. */
  stopClockAt(seconds: number): void {
    this.#setClock = `SET timestamp = ${seconds.toFixed(6)}`;
  }

  async close(): Promise<void> {
    await this.provider.close();
    await this.#access.close();
  }
}

async function send(session: SqlSession, text: string, endsAtMs: number): Promise<readonly SqlRow[]> {
  return (await session.execute({ id: '', text, values: [] }, endsAtMs)).rows;
}
