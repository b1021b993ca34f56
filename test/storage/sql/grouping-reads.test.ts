/** Reads of the ledger that wait for a connection travel together. */
import assert from 'node:assert/strict';
import { systemClock } from '#cronlatch/core/clock';
import type { PeekRequest } from '#cronlatch/ledger/run-store';
import { DatabaseAccess } from '#cronlatch/storage/sql/database/database-access';
import { SqlRunStore } from '#cronlatch/storage/sql/ledger/sql-run-store';
import { databaseOn, testOnEveryServer } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { driverDatabase } from '../../support/stores/driver-database';

const LIMIT = { timeoutMs: 20_000 };
const DAY_MS = 86_400_000;
const FIRST_DAY = Date.parse('2026-11-01T00:00:00Z');

testOnEveryServer('sixty reads at once return what each of them would return alone', async (server) => {
  const database = await databaseOn(server);
  const operator = await ledgerDataSource(database);
  const driver = server === 'postgres' ? 'pg' : 'mysql2';
  const access = new DatabaseAccess(driverDatabase(driver, database.url), {});
  try {
    const alone = new SqlRunStore(access.forRuns({}));
    const grouped = new SqlRunStore({ ...access.forRuns({}), groupingClock: systemClock });
    const requests: PeekRequest[] = [];
    for (let job = 0; job < 60; job += 1) {
      const days = job % 4;
      for (let day = 0; day < days; day += 1) {
        const periodStart = new Date(FIRST_DAY + day * DAY_MS);
        await alone.insert(
          {
            ...{ job: `job-${job}`, scope: '', periodKey: periodStart.toISOString() },
            ...{ periodStart, periodEnd: new Date(periodStart.getTime() + DAY_MS), timeZone: 'UTC' },
            state: job % 3 === 0 ? 'pending' : 'skipped',
          },
          LIMIT,
        );
      }
      requests.push({
        ...{ job: `job-${job}`, scope: '' },
        periodKey: job % 2 === 0 ? new Date(FIRST_DAY).toISOString() : undefined,
        since: job % 5 === 0 ? new Date(FIRST_DAY + DAY_MS) : undefined,
      });
    }
    // The runs of another request for the same job are not returned.
    const [first, second] = [new Date(FIRST_DAY), new Date(FIRST_DAY + DAY_MS)];
    for (const [periodKey, since] of [
      [first.toISOString(), undefined],
      [undefined, second],
    ] as const)
      requests.push({ job: 'job-7', scope: '', periodKey, since });
    const together = await Promise.all(requests.map((request) => grouped.peek(request, LIMIT)));
    for (const [index, request] of requests.entries()) {
      const { runs, firstPeriodStart } = await alone.peek(request, LIMIT);
      const byKey = (all: typeof runs) => all.toSorted((a, b) => (a.periodKey < b.periodKey ? -1 : 1));
      const found = together[index];
      assert.ok(found && found.now.getTime() > FIRST_DAY);
      assert.deepEqual(byKey(found.runs), byKey(runs), request.job);
      assert.deepEqual(found.firstPeriodStart, firstPeriodStart, request.job);
    }
  } finally {
    await access.close();
    await operator.destroy();
    await database.dispose();
  }
});
