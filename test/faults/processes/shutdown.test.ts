import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { SAME_SIGNAL_MS } from '#cronlatch/guard/closing/closing';
import type { TestDatabase } from '../../support/databases/fresh';
import { lockRows, migratedDataSource, shiftBack } from '../../support/databases/lock-table';
import { Child } from '../../processes/child';
import { testOnEvery } from '../../support/databases/fresh';
import type { BillingMessage } from '../../processes/fixtures/billing-app';

type App = Child<BillingMessage>;

/** The app of the README, and the lock that it takes. */
interface Scene {
  /** Its first instance, during its job. */
  readonly first: App;
  readonly startSecond: () => App;
  readonly isHeld: () => Promise<boolean>;
  readonly lockedBy: () => Promise<string>;
  /** Moves the lease back in time, which has the same effect on the lock table as waiting. */
  readonly pass: (milliseconds: number) => Promise<void>;
}

async function inMidJob(database: TestDatabase, body: (scene: Scene) => Promise<void>): Promise<void> {
  const dataSource = await migratedDataSource(database);
  const apps: App[] = [];
  const start = (): App => {
    const app = new Child<BillingMessage>('billing-app.js', { environment: database.environment });
    apps.push(app);
    return app;
  };
  const row = async () => {
    const rows = await lockRows(dataSource);
    assert.equal(rows.length, 1);
    return rows[0]!;
  };
  try {
    const first = start();
    await first.received('enter');
    await body({
      first,
      startSecond: start,
      isHeld: async () => (await row()).held,
      lockedBy: async () => (await row()).lockedBy,
      pass: (milliseconds) => shiftBack(dataSource, milliseconds),
    });
  } finally {
    await Promise.all(apps.map((app) => app.end()));
    await dataSource.destroy();
  }
}

testOnEvery(
  'after SIGTERM during a job, the job settles, its lock is free, and the process ends within 25 s (F-13)',
  (database) =>
    inMidJob(database, async ({ first, isHeld }) => {
      const ended = first.endedWithin(25_000);
      first.kill('SIGTERM');
      await first.received('closing');
      assert.equal(await isHeld(), true, 'the lock is held while its job runs');
      first.send({ word: 'finish' });
      await first.received('leave');
      assert.deepEqual(await ended, [null, 'SIGTERM']);
      assert.equal(await isHeld(), false, 'lock_until is at most now');
    }),
);

testOnEvery(
  'a second SIGTERM ends the process at once, and its lock stays until the lease expires (F-14)',
  (database) =>
    inMidJob(database, async ({ first, isHeld }) => {
      first.kill('SIGTERM');
      await first.received('closing');
      // Its job does not end, so the first signal alone would take 20 s.
      const ended = first.endedWithin(15_000);
      await setTimeout(SAME_SIGNAL_MS);
      first.kill('SIGTERM');
      assert.deepEqual(await ended, [null, 'SIGTERM']);
      assert.equal(await isHeld(), true);
    }),
);

testOnEvery(
  'a restarted instance runs the job after the lease of the killed one has expired (F-01)',
  (database) =>
    inMidJob(database, async ({ first, startSecond, isHeld, lockedBy, pass }) => {
      first.kill('SIGKILL');
      await first.ended;
      assert.equal(await isHeld(), true);
      const second = startSecond();
      await second.received('skipped');
      await pass(60_000);
      await second.received('enter');
      assert.match(await lockedBy(), new RegExp(`/${second.pid}/`));
    }),
);
