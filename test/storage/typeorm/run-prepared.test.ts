import assert from 'node:assert/strict';
import { closing } from '../../support/benches/closing';
import { OwnSession } from '../../support/benches/own-session';
import { testWith } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { LIMIT, PENDING } from '../../support/jobs/runs';

/** The number of statements that a session has prepared. */
const PREPARED = {
  mysql: `SELECT COUNT(*) AS prepared FROM performance_schema.prepared_statements_instances
    WHERE owner_thread_id = PS_CURRENT_THREAD_ID()`,
  // PREPARED_STMT_COUNT would be that of the whole server, including other tests.
  mariadb: `SELECT SUM(IF(VARIABLE_NAME = 'COM_STMT_PREPARE', 1, -1) * VARIABLE_VALUE) AS prepared
    FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME IN ('COM_STMT_PREPARE', 'COM_STMT_CLOSE')`,
  postgres: 'SELECT COUNT(*) AS prepared FROM pg_prepared_statements',
};

for (const server of ['mysql', 'mariadb', 'postgres'] as const)
  testWith(
    server,
    'lists of hundreds of lengths leave only a few prepared statements on the server',
    async (database) => {
      await using application = closing(await ledgerDataSource(database));
      await using session = closing(new OwnSession(application));
      const { runs } = session;
      const prepared = async (): Promise<number> =>
        Number((await session.query<{ prepared: unknown }>(PREPARED[server]))[0]?.prepared);
      for (let run = 0; run < 5; run += 1) await runs.insert({ ...PENDING, periodKey: `${run}` }, LIMIT);
      const found = async (limit: number): Promise<number> =>
        (await runs.find({ order: 'oldest-first', limit }, LIMIT)).length;
      const before = await prepared();
      assert.deepEqual([await found(0), await found(1), await found(3), await found(5)], [0, 1, 3, 5]);
      for (let limit = 6; limit <= 300; limit += 1) assert.equal(await found(limit), 5);
      const more = (await prepared()) - before;
      assert.ok(more > 0 && more <= 11, `${more} more statements are prepared`);
    },
  );
