import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockUseError, JobGuard } from 'cronlatch';
import { InMemoryLockProvider, InMemoryRunStore } from 'cronlatch/memory';
import { completeRunIn, inRunTransaction } from 'cronlatch/typeorm';
import { RunContext, runAs } from '#cronlatch/ledger/tick/run-context';
import { DataSource, type EntityManager } from 'typeorm';
import { closing } from '../../support/benches/closing';
import { JOB, testServerTransactions, testTransactions } from '../../support/benches/transaction';
import { databaseOn } from '../../support/databases/fresh';

/** The manager of a transaction that never sends anything. */
function managerOn(dataSource: DataSource): EntityManager {
  return { queryRunner: { isTransactionActive: true }, dataSource } as EntityManager;
}

async function refused(call: Promise<unknown>, message: RegExp): Promise<void> {
  await assert.rejects(call, (error) => error instanceof InvalidLockUseError && message.test(error.message));
}

const NOWHERE = managerOn(new DataSource({ type: 'better-sqlite3', database: ':memory:' }));

void test('completing a run outside a run is rejected', async () => {
  await refused(
    inRunTransaction(() => assert.fail()),
    /inRunTransaction\(\) was called outside the run/,
  );
  await refused(completeRunIn(NOWHERE), /completeRunIn\(\) was called outside the run/);
});

const OTHER_GUARD = /needs a run whose guard was created with createJobGuard\(\) of cronlatch\/typeorm/;
const NO_DATABASE = /needs a run whose ledger is in an SQL database/;

void test('a simulated run has no ledger in which it could be completed', async () => {
  const run = new RunContext({
    claim: { job: 'job', scope: '', periodKey: 'today', generation: 0, attempt: 1, claimedBy: 'a test' },
    period: { key: 'today', businessDate: '2026-11-20', start: undefined, end: undefined },
    lock: { signal: new AbortController().signal, fencingToken: undefined, remainingMs: () => 0 },
    ...{ scheduledAt: undefined, isCatchUp: false, ledger: undefined },
  });
  await runAs(run, async () => {
    await refused(
      inRunTransaction(() => assert.fail()),
      OTHER_GUARD,
    );
    await refused(completeRunIn(NOWHERE), NO_DATABASE);
  });
});

void test('a ledger in memory shares no transaction with a database', async () => {
  const lockProvider = new InMemoryLockProvider();
  const guard = new JobGuard({ lockProvider, runStore: new InMemoryRunStore(), pollInterval: false });
  await guard.run(JOB, async () => {
    await refused(
      inRunTransaction(() => assert.fail()),
      OTHER_GUARD,
    );
    await refused(completeRunIn(NOWHERE), NO_DATABASE);
  });
  await guard.close();
});

testTransactions(
  'a transaction in another database is rejected, with both addresses',
  async (bench, kind) => {
    const elsewhere = kind === 'sqlite' ? 'mysql' : kind;
    const url = `${elsewhere}://app:hunter2@db.example:1234/other`;
    const other = new DataSource({ type: elsewhere, url });
    await bench.run(async () => {
      await assert.rejects(completeRunIn(managerOn(other)), (error) => {
        assert.ok(error instanceof InvalidLockUseError);
        assert.match(
          error.message,
          / at db\.example:1234 \(\w+:other\), but the ledger is in \w+ (at 127|\().*commit together with the run's/,
        );
        assert.doesNotMatch(error.message, /hunter2|app:/);
        return true;
      });
      await inRunTransaction((manager) => bench.effect(manager));
    });
    assert.deepEqual(await bench.effects(), [1]);
  },
);

testServerTransactions(
  'a transaction in another database of the same server is rejected as well',
  async ({ kind, open }) => {
    const bench = await open();
    await using other = closing(await databaseOn(kind));
    await using dataSource = closing(await new DataSource(other.options).initialize());
    await bench.run(async () => {
      await refused(
        dataSource.transaction((manager) => completeRunIn(manager)),
        new RegExp(`given a transaction in .*:${other.name}\\), but the ledger is in `),
      );
      await inRunTransaction((manager) => bench.effect(manager));
    });
    assert.equal((await bench.row()).state, 'completed');
  },
);
