/** Sequences that logical replication, or a restore of data alone, has left behind the ids of their tables. */
import assert from 'node:assert/strict';
import { currentRun, LockStorageError } from 'cronlatch';
import { createJobGuard, createTables, inRunTransaction } from 'cronlatch/pg';
import { closing } from '../../support/benches/closing';
import { codesOf, examined } from '../../support/benches/doctor';
import { JOB } from '../../support/benches/transaction';
import { databaseOn, testOn } from '../../support/databases/fresh';
import { withUser } from '../../support/databases/user';

const TABLES = ['cronlatch_run', 'cronlatch_run_event', 'cronlatch_run_log'];

const OPTIONS = { pollInterval: false, logger: false, keepLog: '1 kB' } as const;

/** A database with rows in each table that has ids, and what an application does there. */
async function usedDatabase() {
  const database = await databaseOn('postgres');
  await createTables(database.url);
  const run = async (name: string): Promise<string | undefined> => {
    await using guard = closing(await createJobGuard(database.url, OPTIONS));
    const job = { ...JOB, name };
    const fail = (): never => {
      throw new Error('no money');
    };
    await assert.rejects(guard.run(job, fail), /no money/);
    await guard.run(job, async () => {
      currentRun().log('paying');
      await inRunTransaction(() => {});
    });
    return (await guard.ledger.last(name))?.state;
  };
  for (const name of ['first', 'second', 'third']) assert.equal(await run(name), 'completed');
  return Object.assign(database, { run });
}

async function setBack({ ask }: Awaited<ReturnType<typeof usedDatabase>>): Promise<void> {
  for (const table of TABLES) await ask(`ALTER SEQUENCE ${table}_id_seq RESTART`);
}

testOn('postgres', 'sequences that were set back are repaired at the first collision', async () => {
  await using database = closing(await usedDatabase());
  await setBack(database);
  assert.equal(await database.run('fourth'), 'completed');
  for (const table of TABLES) {
    const [row] = await database.ask(
      `SELECT (SELECT last_value FROM ${table}_id_seq) = (SELECT max(id) FROM ${table}) AS is_equal`,
    );
    assert.deepEqual(row, { is_equal: true }, table);
  }
});

testOn(
  'postgres',
  'doctor names each sequence that was set back, with the statement that repairs it',
  async () => {
    await using database = closing(await usedDatabase());
    await setBack(database);
    const { findings } = await examined(database.options);
    assert.deepEqual(codesOf(findings), Array<string>(3).fill('error sequence-behind'));
    for (const { statement } of findings) await database.ask(statement ?? '');
    assert.deepEqual((await examined(database.options)).findings, []);
  },
);

testOn('postgres', 'a user who may not repair a sequence gets the statement', async () => {
  await using database = closing(await usedDatabase());
  await setBack(database);
  await withUser('postgres', database, async ({ account, url }) => {
    await database.ask(`GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO ${account}`);
    await database.ask(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${account}`);
    await using guard = closing(await createJobGuard(url, OPTIONS));
    await assert.rejects(
      guard.run(JOB, () => {}),
      (error) => {
        assert.ok(error instanceof LockStorageError, String(error));
        assert.match(error.message, /SELECT setval\(.*cronlatch_run.*: permission denied for sequence/s);
        return true;
      },
    );
  });
});
