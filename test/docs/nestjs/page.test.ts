import 'reflect-metadata';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModuleMetadata } from '@nestjs/common';
import { JobGuard } from 'cronlatch';
import { createTables } from 'cronlatch/better-sqlite3';
import { testCodeOn } from '../../support/checks/page-tests';
import { Child } from '../../processes/child';
import { sqliteDatabase, testWith } from '../../support/databases/fresh';
import { application, databaseModule } from '../../integrations/nestjs/application';
import { HealthController } from './page/health.controller';
import { ImportService } from './page/import.service';
import { withSettings } from './page/settings.module';

const PAGE = 'docs/nestjs.md';
const SOURCES = 'test/docs/nestjs/page';

testCodeOn(PAGE, SOURCES);

void test('the application on it starts without TypeORM, and ends by SIGTERM', async () => {
  const database = sqliteDatabase();
  const address = `sqlite:${(database.options as { database: string }).database}`;
  await createTables(address);
  const environment = { DATABASE_URL: address, PORT: '0' };
  const app = new Child('../../docs/nestjs/start.js', { environment, isQuiet: true });
  try {
    await app.received('started');
    app.kill('SIGTERM');
    assert.deepEqual(await app.endedWithin(30_000), [null, 'SIGTERM']);
  } finally {
    await app.end();
    await database.dispose();
  }
});

testWith('postgres', 'the application with TypeORM on it creates the tables', async ({ options }) => {
  // The module reads it when it is loaded.
  process.env['DATABASE_URL'] = (options as { url: string }).url;
  const { AppModule } = await import('./page/typeorm.module.js');
  const app = await application({ imports: [AppModule] });
  await app.init();
  assert.equal(await app.get(JobGuard).ledger.last('close-day'), undefined);
  await app.close();
});

/** An application with this on the page, in a fresh database of another name. */
function testParts(
  name: string,
  metadata: ModuleMetadata,
  body: (app: Awaited<ReturnType<typeof application>>) => Promise<void>,
): void {
  testWith('sqlite', name, async (database) => {
    const app = await application({
      ...metadata,
      imports: [databaseModule(database, { name: 'jobs' }), withSettings],
    });
    try {
      await app.init();
      await body(app);
    } finally {
      await app.close();
    }
  });
}

testParts(
  'a service that is given the guard runs under locks',
  { providers: [ImportService] },
  async (app) => {
    const service = app.get(ImportService);
    assert.deepEqual(await Promise.all([service.import('acme'), service.import('acme')]), ['done', 'busy']);
    assert.equal(await service.lastClosing(), undefined);
  },
);

testParts(
  'a health check reports the state of the locks',
  { controllers: [HealthController] },
  async (app) => {
    const controller = app.get(HealthController);
    assert.deepEqual(await controller.check(), { locks: { status: 'up', isClosing: false } });
    await app.close();
    await assert.rejects(controller.check(), { status: 503 });
  },
);
