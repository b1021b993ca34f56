import 'reflect-metadata';
import assert from 'node:assert/strict';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JobGuard, type JobConfiguration } from 'cronlatch';
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

/** @param load loads the root module of an application with Nest, which reads the address from the environment */
export function testModule(name: string, load: () => Promise<{ readonly AppModule: object }>): void {
  testOn('postgres', `the application of Nest with ${name} guards its jobs and ends`, async () => {
    const database = await databaseOn('postgres');
    await createTables(database.url);
    process.env['DATABASE_URL'] = database.url;
    const { AppModule } = await load();
    const app = await NestFactory.createApplicationContext(AppModule as Type, { logger: false });
    const result = await app.get(JobGuard).run({ name: 'job', lockAtMostFor: '1m' }, () => 'ran');
    await app.close();
    assert.deepEqual(result, { executed: true, value: 'ran' });
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
