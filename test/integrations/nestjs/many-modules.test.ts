import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Injectable } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { OncePerDay, SchedulerLock } from 'cronlatch';
import { CronlatchModule } from 'cronlatch/nestjs';
import { closing } from '../../support/benches/closing';
import { turn } from '../../support/benches/lock';
import { mysqlDatabase, sqliteDatabase, testOn } from '../../support/databases/fresh';
import { application, databaseModule } from './application';

@Injectable()
class Jobs {
  @Cron('* * * * * *', { timeZone: 'UTC' })
  @SchedulerLock('many', '1m')
  async often(): Promise<void> {}

  @OncePerDay()
  @Cron('0 3 * * *', { timeZone: 'UTC' })
  @SchedulerLock('close-day', '1m')
  async closeDay(): Promise<void> {}
}

const listeners = (): number =>
  process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);

interface Remains {
  readonly resources: readonly string[];
  readonly listeners: number;
}

const remains = (): Remains => ({ resources: process.getActiveResourcesInfo(), listeners: listeners() });

/** Resources that are there now and were not before. One that has ended since is not a remainder. */
function newSince(before: Remains): Remains {
  const known = [...before.resources];
  const resources = remains().resources.filter((resource) => {
    const index = known.indexOf(resource);
    if (index >= 0) known.splice(index, 1);
    return index < 0;
  });
  return { resources, listeners: listeners() - before.listeners };
}

const NOTHING: Remains = { resources: [], listeners: 0 };

void test('a hundred applications that were opened and closed leave nothing behind in their process', async () => {
  await using database = closing(sqliteDatabase());
  const once = async (): Promise<void> => {
    const app = await application({
      imports: [databaseModule(database), ScheduleModule.forRoot(), CronlatchModule.forRoot()],
      providers: [Jobs],
    });
    await app.init();
    await app.get(Jobs).often();
    await app.get(Jobs).closeDay();
    await app.close();
  };
  // Modules that are loaded once stay. A finished mkdir of TypeORM counts until its memory is freed.
  await once();
  const before = remains();
  for (let i = 0; i < 100; i += 1) await once();
  // Closed resources may disappear a moment later.
  const givenUpAtMs = performance.now() + 30_000;
  const isBusy = (): boolean => newSince(before).resources.length > 0;
  while (isBusy() && performance.now() < givenUpAtMs) await turn();
  assert.deepEqual(newSince(before), NOTHING);
});

testOn('mysql', 'the connections of the guard are closed when the application closes', async (t) => {
  const database = await mysqlDatabase();
  t.after(() => database.dispose());
  const connections = async (): Promise<number> => {
    const rows = await database.ask(
      `SELECT COUNT(*) AS n FROM performance_schema.threads WHERE processlist_db = '${database.name}'`,
    );
    return Number(rows[0]?.['n']);
  };
  const before = await connections();
  for (let i = 0; i < 10; i += 1) {
    const app = await application({
      imports: [databaseModule(database), ScheduleModule.forRoot(), CronlatchModule.forRoot()],
      providers: [Jobs],
    });
    await app.init();
    await app.get(Jobs).often();
    assert.ok((await connections()) > before);
    await app.close();
  }
  // The server may process the last disconnect a moment later.
  while ((await connections()) > before);
});
