import assert from 'node:assert/strict';
import { currentRun, InvalidLockUseError } from 'cronlatch';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import { reasonOf } from '../../support/benches/guard';
import { testDriverTransactions, type DriverBench } from '../../support/benches/transaction';
import { testCompletions } from '../../support/transaction-contract/completing';
import { DRIVERS } from '../../support/transaction-contract/drivers';

/** One server for each driver, for cases that do not depend on the server. */
const ONE_EACH = ['mysql', 'postgres'] as const;

testCompletions('driver', (database) => DRIVERS.open(database, {}));

testDriverTransactions(
  'a completion without a connection is refused',
  async ({ kind, database, open }) => {
    const bench = await open();
    const { pool } = bench.application;
    await bench.run(async () => {
      const [other, described] = {
        mysql: [pool, 'PromisePool'],
        postgres: [pool, 'BoundPool'],
        sqlite: [{}, 'a plain object'],
      }[kind] as [object, string];
      for (const [value, what] of [
        [null, 'null'],
        [database.url, 'a string'],
        [other, described],
      ] as const) {
        const error = await reasonOf(bench.application.completeRunIn(value));
        assert.ok(error instanceof InvalidLockUseError, String(error));
        const message = `completeRunIn() cannot use ${what}. Pass the connection on which you have begun`;
        assert.ok(error.message.startsWith(message), error.message);
        assert.ok(!error.message.includes(database.url));
      }
      await bench.book();
    });
    await bench.is('completed', [1]);
  },
  ['mysql', 'postgres', 'sqlite'],
);

type Callback = (error: Error | null, connection: never, release: () => void) => void;

/** In callbacks, a pool of pg or of mysql2. */
function lendTo(bench: DriverBench, use: (own: never, release: () => void) => void): void {
  const pool = bench.application.pool as {
    readonly pool?: { getConnection(done: Callback): void };
    connect(done: Callback): void;
  };
  if (pool.pool === undefined) pool.connect((_, client, release) => use(client, release));
  else
    pool.pool.getConnection((_, connection) =>
      use(connection, () => (connection as { release(): void }).release()),
    );
}

testDriverTransactions(
  'a callback of one job does not complete the run of another one, and can name its own',
  async ({ kind, open }) => {
    const bench = await open({ poolSize: 1 });
    const { completeRunIn } = kind === 'postgres' ? pgDriver : mysqlDriver;
    const query = (own: never, text: string): Promise<void> =>
      new Promise((resolve, reject) =>
        (own as { query(text: string, done: (error: Error | null) => void): void }).query(text, (error) =>
          error ? reject(error) : resolve(),
        ),
      );
    const outcomeOf = (completion: Promise<void>): Promise<unknown> =>
      completion.then(
        () => 'accepted',
        (error: unknown) => error,
      );
    let takeTurns = (): void => {};
    const bothWait = new Promise<void>((resolve) => (takeTurns = resolve));
    let endSecond = (): void => {};
    const secondEnded = new Promise<void>((resolve) => (endSecond = resolve));
    const first = reasonOf(
      bench.run(
        () =>
          new Promise<void>((_, reject) =>
            lendTo(bench, (_own, release) => {
              void bothWait.then(() => {
                release();
                void secondEnded.then(() => reject(new Error('no bank today')));
              });
            }),
          ),
        { name: 'first' },
      ),
    );
    const seen: unknown[] = [];
    const second = bench.run(
      () => {
        const run = currentRun();
        const done = new Promise<void>((resolve, reject) =>
          lendTo(bench, (own, release) => {
            const work = async (): Promise<void> => {
              seen.push(currentRun().job);
              await query(own, 'START TRANSACTION');
              seen.push(await outcomeOf(completeRunIn(own)));
              seen.push(await outcomeOf(completeRunIn(own, { run })));
              await query(own, 'COMMIT');
              release();
            };
            work().then(resolve, reject);
          }),
        );
        takeTurns();
        return done.finally(endSecond);
      },
      { name: 'second' },
    );
    await second;
    assert.match(String(await first), /no bank today/);
    const [job, refusal, outcome] = seen;
    assert.equal(job, 'first', 'a callback has the context of the handler that has released the connection');
    assert.equal((await bench.row('first')).state, 'failed');
    assert.equal((await bench.row('second')).state, 'completed');
    assert.ok(refusal instanceof InvalidLockUseError, String(refusal));
    assert.equal(outcome, 'accepted');
    assert.match(refusal.message, /^completeRunIn\(\) needs the run of the handler.*Then pass \{ run \}/);
  },
  ONE_EACH,
);

testDriverTransactions(
  'an unknown option of completeRunIn is refused',
  async ({ open }) => {
    const bench = await open();
    await assert.rejects(
      bench.run(() => bench.application.completeRunIn(null, { lines: 3 } as object)),
      /Unknown option 'lines' for completeRunIn\(\)\. The options are result, run\./,
    );
  },
  ['mysql'],
);

testDriverTransactions(
  'a transaction of a query builder on another kind of database is refused, and nothing is sent',
  async ({ open }) => {
    const bench = await open();
    const run = (): Promise<never> => assert.fail('a statement was sent');
    await assert.rejects(
      bench.run(() => bench.application.completeRunIn({ dialect: 'mysql', run })),
      {
        code: 'CRONLATCH_INVALID_USE',
        message: /has no such run\. Use a transaction in the ledger's database, PostgreSQL at .*127\.0\.0\.1/,
      },
    );
  },
  ['postgres'],
);
