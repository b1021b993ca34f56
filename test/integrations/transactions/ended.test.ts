/** Transactions that end before the run is completed: by the work, or by the database after a failed statement. */
import assert from 'node:assert/strict';
import { testTransactions, type TransactionBench } from '../../support/benches/transaction';
import { SERVER_NAMES } from '../../support/databases/fresh';
import { deadlock } from '../../support/transaction-contract/deadlock';

const ON_MYSQL = ['mysql', 'mariadb'] as const;

const STATEMENTS = ['COMMIT', 'ROLLBACK'];
const IMPLICIT = ['TRUNCATE spare', 'CREATE TABLE another (id INT)'];

const ENDINGS = {
  mysql: [...STATEMENTS, ...IMPLICIT],
  mariadb: [...STATEMENTS, ...IMPLICIT],
  postgres: STATEMENTS,
  sqlite: STATEMENTS,
};

const ENDED =
  /Cannot complete the run of job 'ended by [^']+'.*its transaction has already ended.*is not retried/;

/** One tick of a job that ends its transaction, and another tick that must not repeat it. */
async function endWith(bench: TransactionBench, statement: string, throws: boolean): Promise<void> {
  const name = `ended by ${statement}`;
  const attempt = (): Promise<unknown> =>
    bench.tick(
      (transaction) => {
        const ended = transaction.query(statement);
        return throws ? ended.then(() => Promise.reject(new Error('no bank today'))) : ended;
      },
      { name },
    );
  await assert.rejects(attempt, throws ? /no bank today/ : ENDED);
  const { state, reason, error, nextAttemptAt } = await bench.row(name);
  assert.deepEqual([state, reason, nextAttemptAt], ['failed', 'fatal', undefined], statement);
  assert.match(String(error), ENDED);
  const committed = (await bench.effects()).length;
  assert.deepEqual(await attempt(), { executed: false, reason: 'exhausted' });
  assert.equal((await bench.effects()).length, committed, 'no second booking');
}

for (const throws of [false, true])
  testTransactions(
    `work that ended its transaction and ${throws ? 'threw' : 'returned'} fails the run permanently, and its connection stays usable`,
    async (bench, kind) => {
      await bench.database.ask('CREATE TABLE spare (id INT)');
      // TypeORM's one query runner for SQLite does not notice that its transaction has ended.
      const endsOnce = bench.application.subpath === 'cronlatch/typeorm' && kind === 'sqlite';
      for (const statement of ENDINGS[kind].slice(0, endsOnce ? 1 : undefined))
        await endWith(bench, statement, throws);
      if (endsOnce) return;
      await bench.tick();
      assert.equal((await bench.row()).state, 'completed');
    },
    { poolSize: 1, ...(throws ? { awaits: true } : {}) },
  );

testTransactions(
  'after an implicit commit, the handler cannot complete the run in another transaction',
  async (bench) => {
    const ended = /its transaction has already ended/;
    const done = bench.run(async () => {
      const create = 'CREATE TABLE IF NOT EXISTS another (id INT)';
      await assert.rejects(
        bench.book((transaction) => transaction.query(create)),
        ended,
      );
      await bench.book();
    });
    await assert.rejects(done, ended);
    await bench.is('failed', [1]);
  },
  { on: ON_MYSQL },
);

testTransactions(
  'a deadlock that the work does not catch is retried',
  async (bench) => {
    await assert.rejects(
      bench.tick((transaction) => deadlock(bench.database, transaction)),
      /Deadlock/,
    );
    await bench.tick();
    await bench.is('completed', [2]);
  },
  { on: ON_MYSQL },
);

testTransactions(
  'a failure that ended the transaction, and that the work caught, leaves the run uncompleted',
  async (bench, kind) => {
    const isAborted = kind === 'postgres';
    const done = bench.tick((transaction) =>
      isAborted
        ? assert.rejects(transaction.query('SELECT 1 / 0'), /division by zero/)
        : assert.rejects(deadlock(bench.database, transaction), /Deadlock/),
    );
    const message = isAborted ? /current transaction is aborted/ : /transaction has already ended/;
    await assert.rejects(done, message);
    await bench.is('failed', []);
    // Statements after the deadlock can have been committed, each for itself.
    assert.equal((await bench.row()).reason, isAborted ? undefined : 'fatal');
  },
  { on: SERVER_NAMES },
);
