import assert from 'node:assert/strict';
import type { JobConfiguration } from 'cronlatch';
import { createJobGuard, createTables } from 'cronlatch/pg';
import { databaseOn, testOn } from '../support/databases/fresh';

/** @param close runs the job `close-day` in the database, with code of the page */
export function testPage(name: string, close: (url: string) => Promise<void>): void {
  testOn('postgres', `the example with ${name} completes its run`, async () => {
    const database = await databaseOn('postgres');
    await createTables(database.url);
    await database.ask('CREATE TABLE closings (day TEXT PRIMARY KEY)');
    await close(database.url);
    const guard = await createJobGuard(database.url, { pollInterval: false });
    const last = await guard.ledger.last('close-day');
    await guard.close();
    assert.deepEqual([last?.state, last?.result], ['completed', `"closed with ${name}"`]);
    assert.deepEqual(await database.ask('SELECT day FROM closings'), [{ day: last?.periodKey }]);
    await database.dispose();
  });
}

/** One tick of the job. */
export async function runOnce(url: string, handler: () => Promise<void>): Promise<void> {
  const guard = await createJobGuard(url, { pollInterval: false });
  const job: JobConfiguration = {
    name: 'close-day',
    lockAtMostFor: '10m',
    oncePer: { period: 'day', timeZone: 'Europe/Paris' },
  };
  await guard.run(job, handler);
  await guard.close();
}
