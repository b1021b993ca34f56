import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { operations } from 'cronlatch/operations';
import { createJobGuard } from 'cronlatch/typeorm';
import { testWith, type TestDatabase } from '../../support/databases/fresh';
import { ledgerDataSource, shiftJobsBack } from '../../support/databases/run-tables';
import { BY } from '../../support/jobs/acts';
import { assertOnly, exampleStarter, promiseOf, testOnEveryDatabase } from '../../examples/running-example';

// They wait more than they work, but each is one or two processes.
void describe('examples of jobs that run once per day', { concurrency: 6 }, () => {
  testOnEveryDatabase(
    'once-per-business-day',
    'a completed day does not run again, not even after a restart',
    async (start) => {
      const first = start();
      await first.prints();
      assert.equal(await first.stop(), '');
      const second = start();
      await second.prints(1);
      assert.equal(await second.stop(), '');
      assertOnly(second.lines, promiseOf('once-per-business-day', 1));
    },
  );

  testOnEveryDatabase('retry-and-catch-up', 'a failed day is retried without a tick', async (start) => {
    const example = start();
    // The failure is printed on standard error.
    const promised = promiseOf('retry-and-catch-up').filter((line) => !line.includes('run:failed'));
    await example.until(() => example.lines.length === promised.length, promised.join('\n'));
    assertOnly(example.lines, promised);
    const errors = await example.stop();
    assertOnly(errors.trimEnd().split('\n'), promiseOf('retry-and-catch-up'));
  });

  testOnEveryDatabase(
    'retry-and-catch-up',
    'missed days are run, the earliest first',
    async (start, database) => {
      const dates = [3, 2, 1].map((days) =>
        new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10),
      );
      const [last = '', ...missed] = dates;
      const dataSource = await ledgerDataSource(database);
      const guard = await createJobGuard(dataSource);
      const oncePer = { period: 'day', timeZone: 'UTC' } as const;
      // As the example declares it, but days ago.
      const schedule = { expression: '*/10 * * * * *', timeZone: 'UTC', dialect: 'node-cron' } as const;
      guard.wrap({ name: 'daily-report', lockAtMostFor: '30s', oncePer }, () => {}, { schedule });
      await operations(guard).skip({ job: 'daily-report', period: last }, BY);
      await guard.close();
      await shiftJobsBack(dataSource, 5 * 86_400_000);
      await dataSource.destroy();

      const example = start();
      const reports = (): string[] => example.lines.filter((line) => line.startsWith('reporting '));
      await example.until(() => reports().length === 4, 'two missed days, and two attempts of today');
      assert.deepEqual(
        reports().filter((line) => line.endsWith(', missed')),
        missed.map((date) => `reporting ${date}, missed`),
      );
      await example.stop();
      assertOnly(example.lines, [...promiseOf('retry-and-catch-up'), ...promiseOf('retry-and-catch-up', 1)]);
    },
  );

  testOnEveryDatabase('exactly-once-effects', 'it pays as its header promises', async (start, database) => {
    const example = start();
    await example.prints();
    assert.equal(await example.stop(), '');
    assert.equal(await payouts(database), 1);
  });

  testOnEveryDatabase(
    'exactly-once-effects',
    'a killed and a replaced run leave no effect, and their successor leaves one',
    async (start, database) => {
      const first = start();
      await first.until(() => first.lines.length > 1, 'a run');
      await first.kill();
      assert.equal(await payouts(database), 0);

      const second = start();
      await second.until(() => second.lines.length > 1, 'a run');
      await second.paused(async () => {
        const dataSource = await ledgerDataSource(database);
        const guard = await createJobGuard(dataSource);
        await operations(guard).rerun({ job: 'pay-out' }, { ...BY, force: true });
        await guard.close();
        await dataSource.destroy();
      });
      await second.prints(1);
      assert.match(await second.stop(), /run:failed: .* Cause: ClaimLostError/);
      assert.equal(await payouts(database), 1);
    },
  );

  testWith('postgres', 'pg-pool: a day is settled once', async (database, t) => {
    const start = exampleStarter('pg-pool', t, database);
    const first = start();
    await first.prints();
    assert.equal(await first.stop(), '');
    const dataSource = await ledgerDataSource(database);
    const rows = await dataSource.query<unknown[]>('SELECT total FROM settlement');
    await dataSource.destroy();
    assert.deepEqual(rows, [{ total: 100 }]);
  });
});

async function payouts(database: TestDatabase): Promise<number> {
  const dataSource = await ledgerDataSource(database);
  const rows = await dataSource.query<unknown[]>('SELECT amount FROM payout');
  await dataSource.destroy();
  return rows.length;
}
