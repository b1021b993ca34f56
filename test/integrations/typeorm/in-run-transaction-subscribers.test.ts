/** TypeORM's subscribers run between the completion of a run and COMMIT, and after it. Its savepoints nest transactions. */
import assert from 'node:assert/strict';
import { ClaimLostError, InvalidLockUseError } from 'cronlatch';
import { completeRunIn, inRunTransaction } from 'cronlatch/typeorm';
import type { EntityManager, EntitySubscriberInterface } from 'typeorm';
import { reasonOf } from '../../support/benches/guard';
import { testTypeOrmTransactions, type TypeOrmBench } from '../../support/benches/transaction';
import { makeEffect } from '../../support/databases/effects';
import { deadlock } from '../../support/transaction-contract/deadlock';
import { SERVER_NAMES, type DatabaseName } from '../../support/databases/fresh';

type Subscriber = EntitySubscriberInterface<unknown>;

/** A statement of a subscriber that fails, and ends the whole transaction with it. */
type Failure = (manager: EntityManager, bench: TypeOrmBench) => Promise<unknown>;

const deadlocked: Failure = (manager, { database }) => deadlock(database, manager);

const FAILURES: Readonly<Record<DatabaseName, { readonly fails: Failure; readonly error: RegExp }>> = {
  mysql: { fails: deadlocked, error: /Deadlock/ },
  mariadb: { fails: deadlocked, error: /Deadlock/ },
  postgres: { fails: (manager) => manager.query('SELECT 1 / 0'), error: /division by zero/ },
  sqlite: {
    fails: (manager) => manager.query('INSERT OR ROLLBACK INTO cronlatch_run SELECT * FROM cronlatch_run'),
    error: /UNIQUE/,
  },
};

/** A subscriber that continues as if nothing had happened. */
function catching(bench: TypeOrmBench, database: DatabaseName): Subscriber {
  const { fails, error } = FAILURES[database];
  return {
    beforeTransactionCommit: ({ manager }) => assert.rejects(fails(manager, bench), error),
  };
}

const nothingIsCompleted = async (bench: TypeOrmBench, thrown: unknown): Promise<void> => {
  assert.ok(thrown instanceof InvalidLockUseError, String(thrown));
  assert.match(
    thrown.message,
    /^Could not complete the run of job 'close-day' for today: .* rolled its transaction back/,
  );
  await bench.is('failed', []);
  assert.deepEqual(bench.eventsOf('run:completed'), []);
};

testTypeOrmTransactions(
  'if a subscriber catches the error of a failed statement before COMMIT, nothing is completed (F-58)',
  async (bench, database) => {
    bench.application.dataSource.subscribers.push(catching(bench, database));
    await nothingIsCompleted(bench, await reasonOf(bench.tick()));
    bench.application.dataSource.subscribers.length = 0;
    await bench.tick();
    await bench.is('completed', [2]);
  },
  { on: SERVER_NAMES },
);

testTypeOrmTransactions(
  'if a subscriber also throws after COMMIT, nothing is completed either (F-58)',
  async (bench, database) => {
    const { subscribers } = bench.application.dataSource;
    const afterTransactionCommit = (): Promise<void> => Promise.reject(new Error('no mail today'));
    subscribers.push({ ...catching(bench, database), afterTransactionCommit });
    await nothingIsCompleted(bench, await reasonOf(bench.tick()));
  },
  { on: SERVER_NAMES },
);

interface Client {
  query(text: string): Promise<unknown>;
}

testTypeOrmTransactions(
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

testTypeOrmTransactions(
  'if SQLite refuses the COMMIT because a subscriber rolled the transaction back, nothing is completed',
  async (bench, database) => {
    bench.application.dataSource.subscribers.push(catching(bench, database));
    await assert.rejects(bench.tick(), /cannot commit - no transaction is active/);
    await bench.is('failed', []);
  },
  { on: ['sqlite'] },
);

testTypeOrmTransactions('writes of a subscriber before COMMIT are committed with the run', async (bench) => {
  const { subscribers } = bench.application.dataSource;
  subscribers.push({
    beforeTransactionCommit: ({ manager }) => makeEffect(manager, { periodKey: 'audit', attempt: 7 }),
  });
  await bench.tick();
  await bench.is('completed', [7, 1]);
});

testTypeOrmTransactions(
  'if the COMMIT of the job’s own transaction rolled it back, the run counts as failed',
  async (bench, database) => {
    bench.application.dataSource.subscribers.push(catching(bench, database));
    const done = bench.run(() =>
      bench.application.dataSource.transaction(async (manager) => {
        await bench.effect(manager);
        await completeRunIn(manager);
      }),
    );
    await assert.rejects(done, database === 'sqlite' ? /cannot commit/ : ClaimLostError);
    await bench.is('failed', []);
  },
);

const noSubscriber = (): Promise<never> => Promise.reject(new Error('no subscriber today'));

testTypeOrmTransactions(
  'a subscriber that throws after the transaction has begun leaves no open transaction in the pool',
  async (bench) => {
    const { dataSource } = bench.application;
    dataSource.subscribers.push({ afterTransactionStart: noSubscriber });
    await assert.rejects(bench.tick(), /no subscriber today/);
    dataSource.subscribers.length = 0;
    await makeEffect(dataSource, { periodKey: 'tomorrow', attempt: 1 });
    assert.deepEqual(await bench.effects(), [1], 'a statement is committed automatically');
  },
  { poolSize: 1 },
);

testTypeOrmTransactions(
  'a subscriber that throws after COMMIT was answered does not change the commit',
  async (bench) => {
    bench.application.dataSource.subscribers.push({ afterTransactionCommit: noSubscriber });
    await bench.run(() => assert.rejects(bench.book(), /no subscriber today/));
    await bench.is('completed', [1]);
  },
);

testTypeOrmTransactions('a savepoint that the work leaves open prevents the commit', async (bench) => {
  for (const fails of [false, true]) {
    const done = bench.run(() =>
      inRunTransaction(async (manager) => {
        await bench.effect(manager);
        await manager.queryRunner?.startTransaction();
        if (fails) throw new Error('left open');
      }),
    );
    await assert.rejects(done, /left it open|left open/);
    await bench.is('failed', []);
  }
  await bench.run(() => inRunTransaction((manager) => manager.transaction((inner) => bench.effect(inner))));
  assert.deepEqual(await bench.effects(), [3]);
});
