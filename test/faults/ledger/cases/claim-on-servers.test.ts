import assert from 'node:assert/strict';
import { LockStorageError, type JobConfiguration, type JobGuard, type TaskResult } from 'cronlatch';
import { createJobGuard, TypeOrmLockProvider, type CreateJobGuardOptions } from 'cronlatch/typeorm';
import type { FoundRun } from '#cronlatch/ledger/run-store';
import type { DataSource } from 'typeorm';
import { OwnSession } from '../../../support/benches/own-session';
import { testOnServer, testOnServers, type ServerBench } from '../../../support/benches/server';
import { eventually } from '../../../support/clocks/eventually';
import { ambientTransaction, APPLICATION_TABLE } from '../../../support/databases/ambient-transaction';
import { ledgerDataSource } from '../../../support/databases/run-tables';
import { FaultyRunStore } from '../../../support/faults/run-store';
import { targetOf, tcpProxy, throughProxy } from '../../../support/faults/tcp-proxy';
import { closeDay, countedTask } from '../../../support/jobs/close-day';
import { TypeOrmRunStore } from '../../../support/stores/typeorm-run-store';
import { newGuard } from '../../../support/benches/guard-with-runs';
import { CLAIM, LIMIT, RUNNING } from '../../../support/jobs/runs';

/** Each case uses one fixed day, independently of the current date. */
const JOB: JobConfiguration = {
  ...closeDay({ retry: { initialDelay: 0 } }),
  at: new Date('2026-11-20T03:00:00Z'),
};

async function guardOn(
  bench: ServerBench,
  dataSource: DataSource,
  options: CreateJobGuardOptions = {},
): Promise<JobGuard> {
  const guard = await createJobGuard(dataSource, { logger: false, pollInterval: false, ...options });
  return bench.closeAtEnd(guard);
}

async function withLedger(bench: ServerBench): Promise<void> {
  await (await ledgerDataSource(bench.database)).destroy();
}

/** A guard with a short statement timeout, behind a proxy that can stop replies. */
async function proxied(bench: ServerBench) {
  await withLedger(bench);
  const { url } = bench.database;
  const proxy = bench.closeAtEnd(await tcpProxy(targetOf(url)));
  const dataSource = bench.dataSource({ url: throughProxy(url, proxy) });
  return { proxy, guard: await guardOn(bench, dataSource, { statementTimeout: '1s' }) };
}

async function rows({ database }: ServerBench): Promise<unknown[]> {
  const found = await database.ask('SELECT state, attempt FROM cronlatch_run');
  return found.map(({ state, attempt }) => [state, Number(attempt)]);
}

function once(guard: JobGuard, event: 'lock:acquired' | 'lock:failed', action: () => void): void {
  const stop = guard.on(event, () => {
    stop();
    action();
  });
}

testOnServers(
  'a claim whose reply never arrives is recognised on a new connection (L-06, F-39)',
  async (bench) => {
    const { guard, proxy } = await proxied(bench);
    const { task, runs } = countedTask();
    once(guard, 'lock:acquired', () => proxy.deafen());
    assert.deepEqual(await guard.run(JOB, task), { executed: true, value: 'done' });
    assert.equal(runs(), 1);
    assert.deepEqual(await rows(bench), [['completed', 1]]);
  },
);

testOnServers(
  'a claim that does not reach the server starts nothing, and the next tick starts the run (L-07, F-38)',
  async (bench) => {
    const { guard, proxy } = await proxied(bench);
    const { task, runs } = countedTask();
    once(guard, 'lock:acquired', () => void proxy.close());
    once(guard, 'lock:failed', () => void proxy.open());
    await assert.rejects(guard.run(JOB, task), LockStorageError);
    assert.equal(runs(), 0);
    // It may still arrive: the row that it would insert exists already, and is due.
    assert.deepEqual(await rows(bench), [['pending', 0]]);
    assert.deepEqual(await guard.run(JOB, task), { executed: true, value: 'done' });
    assert.deepEqual(await rows(bench), [['completed', 1]]);
  },
);

testOnServers(
  'a claim that waits too long for a row lock is retried, and counts as one attempt (L-09)',
  async (bench) => {
    await withLedger(bench);
    const dataSource = bench.dataSource();
    // MySQL counts the time limit of a lock wait in whole seconds.
    const impatient = { statementTimeout: '2s' } as const;
    const store = bench.closeAtEnd(new TypeOrmRunStore(dataSource, impatient));
    const runStore = new FaultyRunStore(store);
    const lockProvider = bench.closeAtEnd(new TypeOrmLockProvider(dataSource, impatient));
    const quiet = { logger: false, pollInterval: false } as const;
    const guard = bench.closeAtEnd(newGuard({ ...quiet, ...impatient, lockProvider, runStore }));
    const noBank = (): never => {
      throw new Error('no bank today');
    };
    await assert.rejects(guard.run(JOB, noBank), /no bank today/);

    const { ask } = bench.database;
    await ask('START TRANSACTION');
    await ask('SELECT * FROM cronlatch_run FOR UPDATE');
    const tries = (): number => runStore.calls.filter((call) => call === 'change').length;
    const before = tries();
    const { task, runs } = countedTask();
    const running = guard.run(JOB, task);
    await eventually(() => tries() >= before + 2, 'the claim is retried');
    await ask('COMMIT');
    assert.deepEqual(await running, { executed: true, value: 'done' });
    assert.equal(runs(), 1);
    assert.deepEqual(await rows(bench), [['completed', 2]]);
  },
);

const CLAIMERS = 10;
const ROUNDS = 5;

testOnServers('each key has one winner (L-10)', async (bench) => {
  await withLedger(bench);
  const guard = await guardOn(bench, bench.dataSource());
  for (let round = 0; round < ROUNDS; round += 1) {
    const at = new Date(Date.UTC(2026, 10, 1 + round, 12));
    const claims = Array.from({ length: CLAIMERS }, (_, index) => {
      const configuration = { ...closeDay({ name: 'close-day' }), name: `lock-${index}`, at };
      return guard.run(configuration, () => index);
    });
    const results: TaskResult<number>[] = await Promise.all(claims);
    assert.equal(results.filter(({ executed }) => executed).length, 1);
  }
  assert.deepEqual(await rows(bench), Array(ROUNDS).fill(['completed', 1]));
});

testOnServers(
  'a claim stays recorded if the surrounding transaction is rolled back (L-11)',
  async (bench) => {
    await withLedger(bench);
    const application = await bench.connected();
    await application.query(APPLICATION_TABLE);
    const guard = await guardOn(bench, application);
    const { task, runs } = countedTask();
    await ambientTransaction(application, 'rollback', async () => void (await guard.run(JOB, task)));
    assert.deepEqual(await bench.database.ask('SELECT * FROM day_totals'), []);
    assert.deepEqual(await rows(bench), [['completed', 1]]);
    assert.deepEqual(await guard.run(JOB, task), { executed: false, reason: 'already-completed' });
    assert.equal(runs(), 1);
  },
);

for (const server of ['mysql', 'mariadb'] as const)
  for (const completionType of ['CHAIN', 'RELEASE'])
    testOnServer(
      server,
      `in sessions with completion_type ${completionType}, cronlatch knows what was committed (L-12)`,
      async (bench) => {
        await withLedger(bench);
        const session = bench.closeAtEnd(new OwnSession(bench.application));
        await session.runs.insert(RUNNING, LIMIT);
        await session.query(`SET SESSION completion_type = '${completionType}'`);
        const fail = (found: FoundRun | undefined) => {
          assert.ok(found);
          return { value: 'written', write: { ...found.run, state: 'failed' as const } };
        };
        assert.equal(await session.runs.change(CLAIM, fail, LIMIT), 'written');
        assert.deepEqual(await rows(bench), [['failed', 1]]);
        assert.equal(await session.runs.change(CLAIM, () => ({ value: 'read' }), LIMIT), 'read');
      },
    );
