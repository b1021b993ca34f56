import 'reflect-metadata';
import assert from 'node:assert/strict';
import { before } from 'node:test';
import { InvalidLockUseError, type JobGuard } from 'cronlatch';
import { createTables as createMysqlTables } from 'cronlatch/mysql2';
import { createTables as createPostgresTables } from 'cronlatch/pg';
import { completeRunIn, createJobGuard, inRunTransaction } from 'cronlatch/typeorm';
import { DataSource, EntitySchema } from 'typeorm';
import {
  addTransactionalDataSource,
  initializeTransactionalContext,
  runInTransaction,
} from 'typeorm-transactional';
import { closing } from '../../support/benches/closing';
import { databaseOn, testOnEveryServer } from '../../support/databases/fresh';

const EFFECT = new EntitySchema<{ id: number }>({
  name: 'effects',
  columns: { id: { type: Number, primary: true } },
});

const JOB = {
  name: 'close-day',
  lockAtMostFor: '1m',
  oncePer: { period: () => 'today', timeZone: 'UTC' },
} as const;

before(() => initializeTransactionalContext());

/** The data source of an application that uses typeorm-transactional. */
function testTransactional(
  name: string,
  body: (application: DataSource, guard: JobGuard) => Promise<void>,
): void {
  testOnEveryServer(name, async (server) => {
    await using database = closing(await databaseOn(server));
    await (server === 'postgres' ? createPostgresTables : createMysqlTables)(database.url);
    await database.ask('CREATE TABLE effects (id INTEGER PRIMARY KEY)');
    const application = new DataSource({ ...database.options, entities: [EFFECT] } as never);
    addTransactionalDataSource({ name: database.name, dataSource: application });
    await application.initialize();
    await using guard = closing(await createJobGuard(application, { pollInterval: false, logger: false }));
    try {
      await body(application, guard);
    } finally {
      await application.destroy();
    }
  });
}

const REFUSED =
  /because @Transactional\(\) of typeorm-transactional puts what manager\.getRepository\(\) writes/;

testTransactional(
  'inRunTransaction inside of @Transactional() is refused, because repositories would write outside its transaction',
  async (application, guard) => {
    const inside = runInTransaction(
      async () => {
        await guard.run(JOB, () =>
          inRunTransaction(async (manager) => {
            await manager.getRepository(EFFECT).insert({ id: 1 });
          }),
        );
        throw new Error('roll back');
      },
      { connectionName: application.driver.database! },
    );
    const thrown = await inside.then(
      () => undefined,
      (error: unknown) => error,
    );
    const last = await guard.ledger.last(JOB.name);
    assert.equal(last?.state, 'failed', 'no completed run without its rows');
    assert.ok(thrown instanceof InvalidLockUseError, String(thrown));
    assert.match(thrown.message, REFUSED);
    assert.equal(await application.getRepository(EFFECT).count(), 0);
  },
);

testTransactional(
  'completeRunIn in another transaction inside of @Transactional() is refused',
  async (application, guard) => {
    const inside = runInTransaction(
      () =>
        guard.run(JOB, () =>
          application.transaction(async (manager) => {
            await manager.getRepository(EFFECT).insert({ id: 1 });
            await completeRunIn(manager);
          }),
        ),
      { connectionName: application.driver.database! },
    );
    await assert.rejects(inside, REFUSED);
    assert.equal(await application.getRepository(EFFECT).count(), 0);
  },
);

testTransactional(
  'completeRunIn completes the run in the transaction of @Transactional()',
  async (application, guard) => {
    await guard.run(JOB, () =>
      runInTransaction(
        async () => {
          await application.getRepository(EFFECT).insert({ id: 1 });
          await completeRunIn(application.manager);
        },
        { connectionName: application.driver.database! },
      ),
    );
    assert.equal((await guard.ledger.last(JOB.name))?.state, 'completed');
    assert.equal(await application.getRepository(EFFECT).count(), 1);
  },
);

testTransactional('outside of @Transactional(), inRunTransaction works', async (application, guard) => {
  await guard.run(JOB, () =>
    inRunTransaction(async (manager) => {
      await manager.getRepository(EFFECT).insert({ id: 1 });
    }),
  );
  assert.equal((await guard.ledger.last(JOB.name))?.state, 'completed');
  assert.equal(await application.getRepository(EFFECT).count(), 1);
});
