import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { SAME_SIGNAL_MS } from '#cronlatch/guard/closing/closing';
import { closing } from '../../support/benches/closing';
import { testOnEvery, type TestDatabase } from '../../support/databases/fresh';
import { lockRows, migratedDataSource } from '../../support/databases/lock-table';
import { Child } from '../../processes/child';
import type { BillingMessage } from '../../processes/fixtures/billing-app';

/** The app of the README, and the lock that it takes. */
interface Scene {
  /** During its job. */
  readonly app: Child<BillingMessage>;
  readonly isHeld: () => Promise<boolean>;
}

async function inMidJob(database: TestDatabase, body: (scene: Scene) => Promise<void>): Promise<void> {
  await using dataSource = closing(await migratedDataSource(database));
  await using app = closing(
    new Child<BillingMessage>('billing-app.js', { environment: database.environment }),
  );
  await app.received('enter');
  await body({
    app,
    async isHeld() {
      const [row, ...others] = await lockRows(dataSource);
      assert.ok(row !== undefined && others.length === 0);
      return row.held;
    },
  });
}

testOnEvery(
  'after SIGTERM during a job, the job settles, its lock is free, and the process ends within 25 s (F-13)',
  (database) =>
    inMidJob(database, async ({ app, isHeld }) => {
      const ended = app.endedWithin(25_000);
      app.kill('SIGTERM');
      await app.received('closing');
      assert.equal(await isHeld(), true, 'the lock is held while its job runs');
      app.send({ word: 'finish' });
      await app.received('leave');
      assert.deepEqual(await ended, [null, 'SIGTERM']);
      assert.equal(await isHeld(), false, 'lock_until is at most now');
    }),
);

testOnEvery(
  'a second SIGTERM ends the process at once, and its lock stays until the lease expires (F-14)',
  (database) =>
    inMidJob(database, async ({ app, isHeld }) => {
      app.kill('SIGTERM');
      await app.received('closing');
      // Its job does not end, so the first signal alone would take 20 s.
      const ended = app.endedWithin(15_000);
      await setTimeout(SAME_SIGNAL_MS);
      app.kill('SIGTERM');
      assert.deepEqual(await ended, [null, 'SIGTERM']);
      assert.equal(await isHeld(), true);
    }),
);
