import 'reflect-metadata';
import assert from 'node:assert/strict';
import { before } from 'node:test';
import { InvalidLockUseError, type JobGuard } from 'cronlatch';
import { completeRunIn, createJobGuard, inRunTransaction } from 'cronlatch/typeorm';
import { DataSource, EntitySchema } from 'typeorm';
import {
  addTransactionalDataSource,
  initializeTransactionalContext,
  runInTransaction,
} from 'typeorm-transactional';
import { closing } from '../../support/benches/closing';
import { askedDatabase, type AskedDatabase } from '../../support/databases/asked';
import { SERVER_NAMES, testOnEveryServer } from '../../support/databases/fresh';
import type { Library } from '../../support/transaction-contract/application';
import { testCompletions } from '../../support/transaction-contract/completing';

const EFFECT = new EntitySchema<{ id: number; text: string }>({
  name: 'effects',
  columns: { id: { type: Number, primary: true }, text: { type: String } },
});

const JOB = {
  name: 'close-day',
  lockAtMostFor: '1m',
  oncePer: { period: () => 'today', timeZone: 'UTC' },
} as const;

before(() => initializeTransactionalContext());

interface Transactional extends Library {
  readonly application: DataSource;
  /** Runs work as a method with `@Transactional()`. */
  readonly inside: (work: () => Promise<unknown>) => Promise<unknown>;
}

let opened = 0;

/** The data source of an application that uses typeorm-transactional. */
async function open({ options }: AskedDatabase): Promise<Transactional> {
  const connectionName = `application ${++opened}`;
  const application = new DataSource({ ...options, entities: [EFFECT] } as never);
  addTransactionalDataSource({ name: connectionName, dataSource: application });
  await application.initialize();
  const inside: Transactional['inside'] = (work) => runInTransaction(work, { connectionName });
  return {
    application,
    inside,
    createJobGuard: (guardOptions) => createJobGuard(application, guardOptions),
    transaction: (work) =>
      inside(() =>
        work({
          insert: (id, text) => application.getRepository(EFFECT).insert({ id, text }),
          complete: (completeOptions) => completeRunIn(application.manager, completeOptions),
          commitBehind: () => application.query('COMMIT'),
        }),
      ),
    close: () => application.destroy(),
  };
}

testCompletions('typeorm-transactional', open, { on: SERVER_NAMES, lacks: ['completeOutside'] });

function testTransactional(
  name: string,
  body: (library: Transactional, guard: JobGuard) => Promise<void>,
): void {
  testOnEveryServer(name, async (server) => {
    await using database = closing(await askedDatabase(server));
    await database.createTables();
    await database.ask('CREATE TABLE effects (id INTEGER PRIMARY KEY, text VARCHAR(9))');
    await using library = closing(await open(database));
    await using guard = closing(await library.createJobGuard({ pollInterval: false, logger: false }));
    await body(library, guard);
  });
}

const REFUSED =
  /because @Transactional\(\) of typeorm-transactional puts what manager\.getRepository\(\) writes/;

testTransactional(
  'inRunTransaction inside of @Transactional() is refused, because repositories would write outside its transaction',
  async ({ application, inside }, guard) => {
    const done = inside(async () => {
      await guard.run(JOB, () =>
        inRunTransaction(async (manager) => {
          await manager.getRepository(EFFECT).insert({ id: 1, text: '' });
        }),
      );
      throw new Error('roll back');
    });
    const thrown = await done.then(
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
  async ({ application, inside }, guard) => {
    const done = inside(() =>
      guard.run(JOB, () =>
        application.transaction(async (manager) => {
          await manager.getRepository(EFFECT).insert({ id: 1, text: '' });
          await completeRunIn(manager);
        }),
      ),
    );
    await assert.rejects(done, REFUSED);
    assert.equal(await application.getRepository(EFFECT).count(), 0);
  },
);

testTransactional('outside of @Transactional(), inRunTransaction works', async ({ application }, guard) => {
  await guard.run(JOB, () =>
    inRunTransaction(async (manager) => {
      await manager.getRepository(EFFECT).insert({ id: 1, text: '' });
    }),
  );
  assert.equal((await guard.ledger.last(JOB.name))?.state, 'completed');
  assert.equal(await application.getRepository(EFFECT).count(), 1);
});
