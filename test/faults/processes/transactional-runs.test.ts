import assert from 'node:assert/strict';
import {
  DATABASE_NAMES,
  SERVER_NAMES,
  reportLack,
  testWith,
  type DatabaseName,
} from '../../support/databases/fresh';
import { createEffectTable, effectsIn } from '../../support/databases/effects';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { Child } from '../../processes/child';
import type {
  Moment,
  TransactionalMessage,
  TransactionalOrders,
} from '../../processes/fixtures/transactional-app';

type App = Child<TransactionalMessage>;

interface Scene {
  /** Starts one of the two or more instances. */
  readonly start: (orders?: Partial<TransactionalOrders>) => App;
  /** The attempts whose effects are committed. */
  readonly effects: () => Promise<number[]>;
  readonly row: () => Promise<{ state: string; attempt: number }>;
}

function testProcesses(
  name: string,
  body: (scene: Scene) => Promise<void>,
  on: readonly DatabaseName[] = DATABASE_NAMES,
): void {
  for (const kind of on) {
    testWith(kind, name, async ({ options }) => {
      const dataSource = await ledgerDataSource({ options });
      await createEffectTable(dataSource);
      const apps: App[] = [];
      try {
        await body({
          start(orders = {}) {
            const argument = { options, lockAtMostForMs: 2000, transactional: true, ...orders };
            const app = new Child<TransactionalMessage>('transactional-app.js', { argument });
            apps.push(app);
            return app;
          },
          effects: async () => (await effectsIn(dataSource)).map(({ attempt }) => attempt),
          async row() {
            const [row] = await dataSource.query<{ state: string; attempt: unknown }[]>(
              'SELECT state, attempt FROM cronlatch_run',
            );
            return { state: row?.state ?? '', attempt: Number(row?.attempt) };
          },
        });
      } finally {
        await Promise.all(apps.map((app) => app.end()));
        await dataSource.destroy();
      }
    });
  }
}

async function killed(app: App): Promise<void> {
  await app.received('staying');
  await app.end();
}

testProcesses(
  'effects with their own commit are repeated if the process is killed before the run is completed (L-17)',
  async ({ start, effects, row }) => {
    await killed(start({ transactional: false, staysAt: 'after COMMIT' }));
    await start({ transactional: false }).received('executed');
    assert.deepEqual(await effects(), [1, 2]);
    assert.deepEqual(await row(), { state: 'completed', attempt: 2 });
  },
);

testProcesses(
  'effects that are committed with the completion are not repeated (L-17)',
  async ({ start, effects, row }) => {
    await killed(start({ staysAt: 'after COMMIT' }));
    await start().received('already-completed');
    assert.deepEqual(await effects(), [1]);
    assert.deepEqual(await row(), { state: 'completed', attempt: 1 });
  },
);

for (const staysAt of ['after the effects', 'before COMMIT'] as const) {
  testProcesses(
    `a process that is killed ${staysAt} of its transaction leaves nothing, and the next one executes the run (L-18)`,
    async ({ start, effects, row }) => {
      await killed(start({ staysAt }));
      assert.deepEqual(await effects(), []);
      await start().received('executed');
      assert.deepEqual(await effects(), [2]);
      assert.deepEqual(await row(), { state: 'completed', attempt: 2 });
    },
  );
}

const STOPPED: readonly Moment[] = ['before the first write', 'after the effects', 'before COMMIT'];
const STOPPED_ON_SQLITE =
  'a process that is stopped after its first write keeps the file locked for that long';
reportLack('sqlite', STOPPED_ON_SQLITE);

for (const staysAt of STOPPED) {
  testProcesses(
    `a process that is stopped ${staysAt} for longer than its lease rolls back when it continues, because another has executed the run (L-20, F-04)`,
    async ({ start, effects, row }) => {
      const first = start({ staysAt });
      await first.received('staying');
      first.kill('SIGSTOP');
      await start().received('executed');
      assert.deepEqual(await effects(), [2]);
      first.kill('SIGCONT');
      first.send({});
      await first.received('failed');
      await first.received('already-completed');
      assert.deepEqual(await effects(), [2]);
      assert.deepEqual(await row(), { state: 'completed', attempt: 2 });
    },
    staysAt === 'before the first write' ? DATABASE_NAMES : SERVER_NAMES,
  );
}

testProcesses(
  'of two processes that are about to complete the run, only the one that holds the claim does (L-21)',
  async ({ start, effects, row }) => {
    const orders = { staysAt: 'after the effects', pings: true } as const;
    const first = start(orders);
    await first.received('staying');
    const second = start(orders);
    await second.received('staying');
    for (const app of [first, second]) app.send({});
    const [lost] = await Promise.all([first.received('failed'), second.received('executed')]);
    assert.equal(lost.error, 'ClaimLostError');
    assert.deepEqual(await effects(), [2]);
    assert.deepEqual(await row(), { state: 'completed', attempt: 2 });
  },
  SERVER_NAMES,
);
