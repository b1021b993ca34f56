import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockUseError } from 'cronlatch';
import { createJobGuard } from 'cronlatch/memory';
import { asRun } from 'cronlatch/testing';
import { completeRunIn, inRunTransaction } from 'cronlatch/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { JOB, testTypeOrmTransactions } from '../../support/benches/transaction';

/** The manager of a transaction that never sends anything. */
function managerOn(dataSource: DataSource): EntityManager {
  return { queryRunner: { isTransactionActive: true }, dataSource } as EntityManager;
}

async function refused(call: Promise<unknown>, message: RegExp): Promise<void> {
  await assert.rejects(call, (error) => error instanceof InvalidLockUseError && message.test(error.message));
}

const NOWHERE = managerOn(new DataSource({ type: 'better-sqlite3', database: ':memory:' }));

const OTHER_GUARD = /needs a run whose guard was created with createJobGuard\(\) of cronlatch\/typeorm/;
const NO_DATABASE = /needs a run whose ledger is in an SQL database/;

async function cannotComplete(): Promise<void> {
  await refused(
    inRunTransaction(() => assert.fail()),
    OTHER_GUARD,
  );
  await refused(completeRunIn(NOWHERE), NO_DATABASE);
}

void test('a simulated run has no ledger in which it could be completed', async () => {
  await asRun({}, cannotComplete);
});

void test('a ledger in memory shares no transaction with a database', async () => {
  const guard = createJobGuard(undefined, { pollInterval: false });
  await guard.run(JOB, cannotComplete);
  await guard.close();
});

testTypeOrmTransactions(
  'a transaction in another kind of database, or in another file, is rejected',
  async (bench) => {
    const other = new DataSource({ type: 'better-sqlite3', database: ':memory:' });
    await other.initialize();
    await bench.run(async () => {
      await refused(
        other.transaction((manager) => completeRunIn(manager)),
        /has no such run\. Use a transaction in the ledger's database, \w+ (at 127|\()/,
      );
      await inRunTransaction((manager) => bench.effect(manager));
    });
    await other.destroy();
    assert.deepEqual(await bench.effects(), [1]);
  },
);
