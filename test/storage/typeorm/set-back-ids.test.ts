import assert from 'node:assert/strict';
import { createJobGuard } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { JOB } from '../../support/benches/transaction';
import { testOnEvery, type DatabaseName } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';

/** InnoDB refuses a counter below the ids of the rows, and SQLite does not use one. */
const SET_BACK: Readonly<Record<DatabaseName, (table: string) => string>> = {
  mysql: (table) => `ALTER TABLE ${table} AUTO_INCREMENT = 1`,
  mariadb: (table) => `ALTER TABLE ${table} AUTO_INCREMENT = 1`,
  postgres: (table) => `ALTER SEQUENCE ${table}_id_seq RESTART`,
  sqlite: (table) => `UPDATE sqlite_sequence SET seq = 0 WHERE name = '${table}'`,
};

testOnEvery('runs go on after the counters of their ids were set back', async (database, _t, kind) => {
  await using dataSource = closing(await ledgerDataSource(database));
  await using guard = closing(await createJobGuard(dataSource, { pollInterval: false, logger: false }));
  const failThenRun = async (name: string): Promise<void> => {
    const fail = (): never => {
      throw new Error('no money');
    };
    await assert.rejects(guard.run({ ...JOB, name }, fail), /no money/);
    await guard.run({ ...JOB, name }, () => {});
    assert.equal((await guard.ledger.last(name))?.state, 'completed');
  };
  for (const name of ['first', 'second']) await failThenRun(name);
  for (const table of ['cronlatch_run', 'cronlatch_run_event']) await dataSource.query(SET_BACK[kind](table));
  await failThenRun('third');
  const history = await guard.ledger.history({ job: 'third', periodKey: 'today' });
  assert.deepEqual(
    history.map((event) => event.kind),
    ['failed'],
  );
});
