import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import type { DataSourceOptions } from 'typeorm';
import { testWith, type DatabaseName, type TestDatabase } from '../../support/databases/fresh';
import { CRON_SCHEDULER_NAMES, SCHEDULER_NAMES } from '../../support/jobs/other-schedulers';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { Child } from '../../processes/child';
import type {
  RunOfTick,
  SchedulerMessage,
  SchedulerOrders,
} from '../../processes/fixtures/other-scheduler-app';

type App = Child<SchedulerMessage>;

const ONCE_PER_TICK = { name: 'tick', lockAtMostFor: '30s', isOncePerTick: true } as const;
const JOB = { name: 'tick', lockAtMostFor: '30s' } as const;
/** Longer than the second between two ticks. */
const AT_LEAST_MS = 2500;
/** The lock is independent of the scheduler, so one server is enough. */
const ON: readonly (readonly [DatabaseName, (typeof CRON_SCHEDULER_NAMES)[number]])[] = [
  ...CRON_SCHEDULER_NAMES.map((scheduler) => ['sqlite', scheduler] as const),
  ['mysql', 'croner'],
];
/** Closing takes 20 s at most. */
const LONGEST_END_MS = 30_000;

async function withApps(
  orders: readonly SchedulerOrders[],
  body: (apps: readonly App[]) => Promise<void>,
  { isQuiet = false } = {},
): Promise<void> {
  const apps = orders.map((argument): App => new Child('other-scheduler-app.js', { argument, isQuiet }));
  try {
    await body(apps);
  } finally {
    await Promise.all(apps.map((app) => app.end()));
  }
}

/**
 * Two processes whose ticks compete, until some have run and some were skipped; then they stop. @returns the
 * runs so far
 */
async function compete(orders: SchedulerOrders): Promise<RunOfTick[]> {
  const answers: (RunOfTick | undefined)[] = [];
  await withApps([orders, orders], async (apps) => {
    const answersOf = (app: App): typeof answers =>
      app.messages.flatMap((message) => (message.event === 'answered' ? [message.run] : []));
    const enough = (): boolean => {
      const soFar = apps.map(answersOf);
      const runs = soFar.flat().filter((run) => run !== undefined).length;
      return soFar.every(({ length }) => length >= 4) && runs >= 2 && runs < soFar.flat().length;
    };
    await Promise.race(apps.map((app) => app.received('answered', { matching: enough, withinMs: 120_000 })));
    for (const app of apps) app.send({ word: 'stop' });
    for (const app of apps) {
      assert.deepEqual(await app.endedWithin(LONGEST_END_MS), [0, null], 'nothing keeps it alive');
      const { length } = app.messages;
      assert.equal(app.messages[length - 1]?.event, 'closed', 'nothing happens afterwards');
    }
    answers.push(...apps.flatMap(answersOf));
  });
  return answers.filter((run) => run !== undefined);
}

async function makeTables(database: TestDatabase): Promise<void> {
  const dataSource = await ledgerDataSource(database);
  await dataSource.destroy();
}

/** A database address at which no server listens. */
async function unreachableDatabase(): Promise<DataSourceOptions> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return { type: 'mysql', host: '127.0.0.1', port, username: 'app', database: 'app' };
}

void describe('ticks of two processes', { concurrency: true }, () => {
  for (const [name, scheduler] of ON) {
    testWith(name, `${scheduler}: one of them runs each tick, and the scheduler stops`, async (database) => {
      await makeTables(database);
      const { options } = database;
      const runs = await compete({ scheduler, options, guarded: ONCE_PER_TICK });
      const ticks = runs.map(({ periodKey = '' }) => periodKey);
      assert.equal(new Set(ticks).size, ticks.length, ticks.join());
      for (const tick of ticks) assert.match(tick, /\.000Z$/, 'the scheduled time, not the actual one');
    });
  }

  testWith('sqlite', 'setInterval: runs start at least lockAtLeastFor apart', async (database) => {
    await makeTables(database);
    const { options } = database;
    const guarded = { ...JOB, lockAtLeastFor: AT_LEAST_MS };
    const runs = await compete({ scheduler: 'setInterval', options, guarded });
    const startedAtMs = runs.map(({ token = NaN }) => token / 1000).sort((a, b) => a - b);
    for (const [index, atMs] of startedAtMs.slice(1).entries())
      assert.ok(atMs - startedAtMs[index]! >= AT_LEAST_MS, startedAtMs.join());
  });
});

void describe('a database that is down', { concurrency: true }, () => {
  for (const scheduler of SCHEDULER_NAMES) {
    void test(`${scheduler}: a wrapped function reports it at every tick, and the process continues`, async () => {
      const orders = { scheduler, options: await unreachableDatabase(), guarded: JOB };
      await withApps([orders], async ([app]) => {
        const failures = (): number => app!.messages.filter(({ event }) => event === 'failed').length;
        await app?.received('failed', { matching: () => failures() >= 3 });
        app?.send({ word: 'stop' });
        assert.deepEqual(await app?.endedWithin(LONGEST_END_MS), [0, null]);
      });
    });
  }

  for (const scheduler of ['croner', 'node-schedule', 'setInterval'] as const) {
    void test(`${scheduler}: a handler that rejects ends the process`, async () => {
      const orders = { scheduler, options: await unreachableDatabase(), guarded: JOB, rejects: true };
      await withApps([orders], async ([app]) => assert.deepEqual(await app?.endedWithin(60_000), [1, null]), {
        isQuiet: true,
      });
    });
  }

  void test('cron: a handler that rejects is written to the console, and the process continues', async () => {
    const orders = {
      scheduler: 'cron',
      options: await unreachableDatabase(),
      guarded: JOB,
      rejects: true,
    } as const;
    await withApps(
      [orders],
      async ([app]) => {
        const failures = (): number => app!.messages.filter(({ event }) => event === 'failed').length;
        await app?.received('failed', { matching: () => failures() >= 2 });
      },
      { isQuiet: true },
    );
  });
});

void describe('SIGTERM during a job', { concurrency: true }, () => {
  for (const scheduler of SCHEDULER_NAMES) {
    testWith(
      'sqlite',
      `${scheduler}: further ticks start nothing, and the process ends after the job`,
      async (database) => {
        await makeTables(database);
        const orders = { scheduler, options: database.options, guarded: JOB, isHeld: true };
        await withApps([orders], async ([app]) => {
          await app?.received('enter');
          app?.kill('SIGTERM');
          // The skipped ticks so far.
          const skips = (): number =>
            app!.messages.filter((message) => message.event === 'answered' && message.run === undefined)
              .length;
          const before = skips();
          await app?.received('answered', { matching: () => skips() >= before + 2 });
          app?.send({ word: 'finish' });
          assert.deepEqual(await app?.endedWithin(LONGEST_END_MS), [null, 'SIGTERM']);
          const events = app?.messages.map(({ event }) => event) ?? [];
          assert.equal(events.filter((event) => event === 'enter').length, 1);
          assert.ok(events.includes('leave'));
        });
      },
    );
  }
});
