/** TypeORM's subscribers run between the completion of a run and COMMIT, and after it. */
import assert from 'node:assert/strict';
import { ClaimLostError, InvalidLockUseError } from 'cronlatch';
import { completeRunIn, inRunTransaction } from 'cronlatch/typeorm';
import type { EntityManager, EntitySubscriberInterface } from 'typeorm';
import { reasonOf } from '../../support/benches/guard';
import { testTransactions, type TransactionBench } from '../../support/benches/transaction';
import { makeEffect } from '../../support/databases/effects';
import { SERVER_NAMES, type DatabaseName } from '../../support/databases/fresh';

type Subscriber = EntitySubscriberInterface<unknown>;

/** A statement of a subscriber that fails, and ends the whole transaction with it. */
type Failure = (manager: EntityManager, bench: TransactionBench) => Promise<unknown>;

/** InnoDB rolls back the transaction that has written less. */
const deadlock: Failure = async (manager, bench) => {
  const other = bench.operator.createQueryRunner();
  await other.startTransaction();
  try {
    const rows = Array.from({ length: 50 }, (_, index) => `('other', ${index})`);
    await other.query(`INSERT INTO effect (run, attempt) VALUES ${rows.join(', ')}`);
    const waitsForRun = other.query('SELECT * FROM cronlatch_run FOR UPDATE');
    const waitsForOther = manager.query(`UPDATE effect SET attempt = 99 WHERE run = 'other'`);
    await Promise.all([waitsForRun, waitsForOther]);
  } finally {
    await other.rollbackTransaction();
    await other.release();
  }
};

const FAILURES: Readonly<Record<DatabaseName, { readonly fails: Failure; readonly error: RegExp }>> = {
  mysql: { fails: deadlock, error: /Deadlock/ },
  mariadb: { fails: deadlock, error: /Deadlock/ },
  postgres: { fails: (manager) => manager.query('SELECT 1 / 0'), error: /division by zero/ },
  sqlite: {
    fails: (manager) => manager.query('INSERT OR ROLLBACK INTO cronlatch_run SELECT * FROM cronlatch_run'),
    error: /UNIQUE/,
  },
};

/** A subscriber that continues as if nothing had happened. */
function catching(bench: TransactionBench, database: DatabaseName): Subscriber {
  const { fails, error } = FAILURES[database];
  return {
    beforeTransactionCommit: ({ manager }) => assert.rejects(fails(manager, bench), error),
  };
}

const nothingIsCompleted = async (bench: TransactionBench, thrown: unknown): Promise<void> => {
  assert.ok(thrown instanceof InvalidLockUseError, String(thrown));
  assert.match(
    thrown.message,
    /^Could not complete the run of job 'close-day' for today: .* rolled its transaction back/,
  );
  assert.deepEqual(await bench.effects(), []);
  assert.equal((await bench.row()).state, 'failed');
  assert.deepEqual(bench.eventsOf('run:completed'), []);
};

testTransactions(
  'if a subscriber catches the error of a failed statement before COMMIT, nothing is completed (F-58)',
  async (bench, database) => {
    bench.application.subscribers.push(catching(bench, database));
    const handler = (): Promise<void> => inRunTransaction((manager) => bench.effect(manager));
    await nothingIsCompleted(bench, await reasonOf(bench.run(handler)));
    bench.application.subscribers.length = 0;
    await bench.run(handler);
    assert.deepEqual(await bench.effects(), [2]);
    assert.equal((await bench.row()).state, 'completed');
  },
  { on: SERVER_NAMES },
);

testTransactions(
  'if a subscriber also throws after COMMIT, nothing is completed either (F-58)',
  async (bench, database) => {
    const { subscribers } = bench.application;
    const afterTransactionCommit = (): Promise<void> => Promise.reject(new Error('no mail today'));
    subscribers.push({ ...catching(bench, database), afterTransactionCommit });
    const done = bench.run(() => inRunTransaction((manager) => bench.effect(manager)));
    await nothingIsCompleted(bench, await reasonOf(done));
  },
  { on: SERVER_NAMES },
);

interface Client {
  query(text: string): Promise<unknown>;
}

testTransactions(
  'if an unawaited statement fails after the completion, nothing is completed',
  async (bench) => {
    const done = bench.run(() =>
      inRunTransaction(async (manager) => {
        await bench.effect(manager);
        const client = (await manager.queryRunner?.connect()) as Client;
        const query = client.query.bind(client);
        client.query = (text, ...rest: []) => {
          if (text === 'COMMIT') void query('SELECT 1 / 0').catch(() => undefined);
          return query(text, ...rest);
        };
      }),
    );
    await nothingIsCompleted(bench, await reasonOf(done));
  },
  { on: ['postgres'] },
);

testTransactions(
  'if SQLite refuses the COMMIT because a subscriber rolled the transaction back, nothing is completed',
  async (bench, database) => {
    bench.application.subscribers.push(catching(bench, database));
    const done = bench.run(() => inRunTransaction((manager) => bench.effect(manager)));
    await assert.rejects(done, /cannot commit - no transaction is active/);
    assert.deepEqual(await bench.effects(), []);
    assert.equal((await bench.row()).state, 'failed');
  },
  { on: ['sqlite'] },
);

testTransactions('writes of a subscriber before COMMIT are committed with the run', async (bench) => {
  const { subscribers } = bench.application;
  subscribers.push({
    beforeTransactionCommit: ({ manager }) => makeEffect(manager, { periodKey: 'audit', attempt: 7 }),
  });
  await bench.run(() => inRunTransaction((manager) => bench.effect(manager)));
  assert.deepEqual(await bench.effects(), [7, 1]);
  assert.equal((await bench.row()).state, 'completed');
});

testTransactions(
  'if the COMMIT of the job’s own transaction rolled it back, the run counts as failed',
  async (bench, database) => {
    bench.application.subscribers.push(catching(bench, database));
    const done = bench.run(() =>
      bench.application.transaction(async (manager) => {
        await bench.effect(manager);
        await completeRunIn(manager);
      }),
    );
    await assert.rejects(done, database === 'sqlite' ? /cannot commit/ : ClaimLostError);
    assert.deepEqual(await bench.effects(), []);
    assert.equal((await bench.row()).state, 'failed');
  },
);
