import assert from 'node:assert/strict';
import { suite } from 'node:test';
import { testOnEvery, testWith, type TestDatabase } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { Child } from '../../processes/child';
import type { SettlementMessage, SettlementOrders } from '../../processes/fixtures/settlement-app';

type App = Child<SettlementMessage>;

const LOCK_AT_MOST_FOR_MS = 3000;
const DEFAULT_POLL_INTERVAL_MS = 60_000;
/** Instead of a minute, in tests of other behaviour. */
const DUE_EVERY_MS = 1000;

interface Scene {
  /** During its run, for which no other process has a tick. */
  readonly first: App;
  readonly second: App;
  /** Starts another process without a tick. */
  readonly startNext: () => Promise<App>;
  readonly businessDate: string;
  /** The contents of the only row. */
  readonly row: () => Promise<Record<string, unknown>>;
}

async function inMidRun(
  database: TestDatabase,
  body: (scene: Scene) => Promise<void>,
  orders: Pick<SettlementOrders, 'pollInterval' | 'oncePer' | 'throwsAbort'> = { pollInterval: DUE_EVERY_MS },
): Promise<void> {
  const { options } = database;
  const dataSource = await ledgerDataSource(database);
  const apps: App[] = [];
  const start = async (hasTick: boolean): Promise<App> => {
    const argument: SettlementOrders = { options, lockAtMostFor: LOCK_AT_MOST_FOR_MS, hasTick, ...orders };
    const app: App = new Child('settlement-app.js', { argument });
    apps.push(app);
    await app.received('ready');
    return app;
  };
  try {
    const first = await start(true);
    const { businessDate } = await first.received('enter');
    const second = await start(false);
    const row = async (): Promise<Record<string, unknown>> => {
      const rows = await dataSource.query<Record<string, unknown>[]>(
        'SELECT period_key, state, attempt, reason FROM cronlatch_run',
      );
      assert.equal(rows.length, 1);
      return { ...rows[0] };
    };
    await body({ first, second, startNext: () => start(false), businessDate, row });
  } finally {
    await Promise.all(apps.map((app) => app.end()));
    await dataSource.destroy();
  }
}

async function assertNextCompletes({ second, businessDate, row }: Scene, attempt: number): Promise<void> {
  const entered = await second.received('enter', {
    withinMs: LOCK_AT_MOST_FOR_MS + DEFAULT_POLL_INTERVAL_MS,
  });
  assert.deepEqual([entered.businessDate, entered.attempt], [businessDate, attempt]);
  second.send({ word: 'finish' });
  await second.received('completed');
  assert.deepEqual(await row(), { period_key: businessDate, state: 'completed', attempt, reason: null });
}

void suite('the run of a dead process', { concurrency: true }, () => {
  testOnEvery(
    'if a process is killed during its run, another completes the same business date as attempt 2, without a tick (L-15)',
    (database) =>
      inMidRun(database, async (scene) => {
        scene.first.kill('SIGKILL');
        await scene.first.ended;
        await assertNextCompletes(scene, 2);
      }),
  );

  testWith(
    'sqlite',
    'without further options, the same takes lockAtMostFor and a minute (L-15)',
    (database) =>
      inMidRun(
        database,
        async (scene) => {
          scene.first.kill('SIGKILL');
          await assertNextCompletes(scene, 2);
        },
        {},
      ),
  );

  testOnEvery('with hold it is interrupted, and no process runs it (L-16)', (database) =>
    inMidRun(
      database,
      async ({ first, second, businessDate, row }) => {
        first.kill('SIGKILL');
        await second.received('interrupted', { withinMs: LOCK_AT_MOST_FOR_MS + DEFAULT_POLL_INTERVAL_MS });
        second.send({ word: 'look again' });
        const { started, overdue: overdue } = await second.received('due');
        assert.deepEqual([started, overdue], [0, 0]);
        assert.equal(
          second.messages.find(({ event }) => event === 'enter'),
          undefined,
        );
        assert.deepEqual(await row(), {
          ...{ period_key: businessDate, state: 'interrupted', attempt: 1, reason: 'lease-ended' },
        });
      },
      { pollInterval: DUE_EVERY_MS, oncePer: { onCrash: 'hold' } },
    ),
  );

  testOnEvery(
    'after SIGTERM it is given back, and another process runs it as attempt 1, its only attempt (L-23)',
    (database) =>
      inMidRun(
        database,
        async (scene) => {
          scene.first.kill('SIGTERM');
          assert.deepEqual(await scene.first.endedWithin(10_000), [null, 'SIGTERM']);
          await assertNextCompletes(scene, 1);
        },
        { pollInterval: DUE_EVERY_MS, oncePer: { retry: { maxAttempts: 1 } } },
      ),
  );
});

testOnEvery(
  'three processes get SIGTERM during a job that calls throwIfAborted(): no attempt is used, and the fourth completes its only one (L-23)',
  (database) =>
    inMidRun(
      database,
      async (scene) => {
        const { first, second, startNext, row, businessDate } = scene;
        let [running, waiting] = [first, second];
        for (let deployments = 0; deployments < 3; deployments += 1) {
          running.kill('SIGTERM');
          assert.deepEqual(await running.endedWithin(60_000), [null, 'SIGTERM']);
          const { attempt } = await waiting.received('enter');
          assert.equal(attempt, 1);
          assert.deepEqual(await row(), {
            period_key: businessDate,
            state: 'running',
            attempt: 1,
            reason: null,
          });
          if (deployments < 2) [running, waiting] = [waiting, await startNext()];
        }
        await assertNextCompletes({ ...scene, second: waiting }, 1);
      },
      { pollInterval: DUE_EVERY_MS, oncePer: { retry: { maxAttempts: 1 } }, throwsAbort: true },
    ),
);
