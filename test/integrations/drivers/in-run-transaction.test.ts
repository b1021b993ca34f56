import assert from 'node:assert/strict';
import {
  ClaimLostError,
  currentRun,
  InvalidLockUseError,
  RunAlreadyCompletedError,
  type JobConfiguration,
} from 'cronlatch';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import { closing } from '../../support/benches/closing';
import {
  openPlain,
  testDriverTransactions,
  type DriverTransactions,
  type PlainConnection,
} from '../../support/benches/driver-transactions';
import { databaseOn } from '../../support/databases/fresh';
import { reasonOf } from '../../support/benches/guard';
import { number, WORDS } from '../../support/databases/session-words';
import { JOB } from '../../support/benches/transaction';

/** One server for each driver, for cases that do not depend on the server. */
const ONE_EACH = ['mysql', 'postgres'] as const;

type Work = (connection: PlainConnection) => Promise<unknown>;

/** One tick whose handler is a transaction that completes its run. */
function transact(bench: DriverTransactions, work: Work, more: Partial<JobConfiguration> = {}) {
  return bench.run(() => bench.application.inRunTransaction(work), more);
}

testDriverTransactions(
  'work that throws leaves nothing behind, and a retry inside the handler completes the run',
  async ({ open }) => {
    const bench = await open({ poolSize: 1 });
    await bench.run(async () => {
      const failing = bench.application.inRunTransaction(async (connection) => {
        await bench.effect(connection);
        throw new Error('no bank today');
      });
      await assert.rejects(failing, /^Error: no bank today$/);
      assert.deepEqual(await bench.effects(), []);
      await bench.application.inRunTransaction(async (connection) => {
        await bench.effect(connection);
        assert.deepEqual(await bench.effects(), [], 'invisible to others before the commit');
      });
      await assert.rejects(
        bench.application.inRunTransaction(() => assert.fail()),
        RunAlreadyCompletedError,
      );
      assert.throws(() => currentRun().giveBack(), RunAlreadyCompletedError);
    });
    assert.deepEqual(await bench.effects(), [1]);
    assert.equal((await bench.row()).state, 'completed');
  },
  ONE_EACH,
);

testDriverTransactions(
  'a holder whose run was taken over leaves no effects',
  async ({ open }) => {
    const bench = await open();
    const thrown = await reasonOf(
      transact(bench, async (connection) => {
        await bench.effect(connection);
        await bench.seize();
      }),
    );
    assert.ok(thrown instanceof ClaimLostError, String(thrown));
    assert.deepEqual(await bench.effects(), []);
    const { state, attempt } = await bench.row();
    assert.deepEqual([state, attempt], ['running', 2]);
  },
  ONE_EACH,
);

const ENDS = {
  mysql: ['COMMIT', 'ROLLBACK', 'TRUNCATE spare', 'CREATE TABLE another (id INT)'],
  mariadb: ['COMMIT', 'ROLLBACK', 'TRUNCATE spare', 'CREATE TABLE another (id INT)'],
  postgres: ['COMMIT', 'ROLLBACK'],
};

const ENDED = /Cannot complete the run of job 'ended-\d'.*its transaction has already ended.*is not retried/;

for (const [how, ending] of [
  ['returned', () => {}],
  [
    'threw',
    () => {
      throw new Error('no bank today');
    },
  ],
] as const)
  testDriverTransactions(
    `work that ended its transaction and ${how} fails the run permanently, and its connection stays usable`,
    async ({ kind, database, open }) => {
      const bench = await open({ poolSize: 1 });
      await database.ask('CREATE TABLE spare (id INT)');
      for (const [index, end] of ENDS[kind].entries()) {
        const name = `ended-${index}`;
        const attempt = (): Promise<unknown> =>
          transact(
            bench,
            async (connection) => {
              await connection.query(`INSERT INTO spare VALUES (${index})`);
              await bench.effect(connection);
              await connection.query(end);
              ending();
            },
            { name },
          );
        await assert.rejects(attempt, how === 'threw' ? /no bank today/ : ENDED);
        const { state, reason, error, nextAttemptAt } = await bench.row(name);
        assert.deepEqual([state, reason, nextAttemptAt], ['failed', 'fatal', undefined], end);
        assert.match(String(error), ENDED);
        const committed = (await bench.effects()).length;
        assert.deepEqual(await attempt(), { executed: false, reason: 'exhausted' });
        assert.equal((await bench.effects()).length, committed, 'no second booking');
      }
      await transact(bench, (connection) => bench.effect(connection));
      assert.equal((await bench.row()).state, 'completed');
    },
  );

testDriverTransactions(
  'after an implicit commit, the handler cannot complete the run in another transaction',
  async ({ open }) => {
    const bench = await open();
    await assert.rejects(
      bench.run(async () => {
        const book = (): Promise<unknown> =>
          bench.application.inRunTransaction(async (connection) => {
            await bench.effect(connection);
            await connection.query('CREATE TABLE IF NOT EXISTS another (id INT)');
          });
        await assert.rejects(book, /its transaction has already ended/);
        await book();
      }),
      /its transaction has already ended/,
    );
    assert.deepEqual(await bench.effects(), [1]);
  },
  ['mysql', 'mariadb'],
);

testDriverTransactions(
  'a deadlock that the work does not catch is retried',
  async ({ open }) => {
    const bench = await open();
    const deadlocked = transact(bench, async (connection) => {
      await bench.effect(connection);
      await deadlock(bench, connection);
    });
    await assert.rejects(deadlocked, /Deadlock/);
    await transact(bench, (connection) => bench.effect(connection));
    assert.deepEqual(await bench.effects(), [2]);
  },
  ['mysql', 'mariadb'],
);

/** InnoDB rolls back the transaction that has written less. */
async function deadlock(bench: DriverTransactions, connection: PlainConnection): Promise<void> {
  const { connection: other, release } = await bench.application.borrow();
  try {
    await other.query('START TRANSACTION');
    const rows = Array.from({ length: 50 }, (_, index) => `('other', ${index})`);
    await other.query(`INSERT INTO effect (run, attempt) VALUES ${rows.join(', ')}`);
    await connection.query('UPDATE cronlatch_run SET scope = scope WHERE 1 = 1');
    const waitsForRun = other.query('SELECT * FROM cronlatch_run FOR UPDATE');
    const waitsForOther = connection.query(`UPDATE effect SET attempt = 99 WHERE run = 'other'`);
    await Promise.all([waitsForRun, waitsForOther]);
  } finally {
    await other.query('ROLLBACK');
    release();
  }
}

testDriverTransactions(
  'a failure that ended the transaction, and that the work caught, leaves the run uncompleted',
  async ({ kind, open }) => {
    const bench = await open();
    const done = transact(bench, async (connection) => {
      await bench.effect(connection);
      if (kind === 'postgres') await assert.rejects(connection.query('SELECT 1 / 0'), /division by zero/);
      else await assert.rejects(deadlock(bench, connection), /Deadlock/);
    });
    const message = kind === 'postgres' ? /current transaction is aborted/ : /transaction has already ended/;
    await assert.rejects(done, message);
    assert.deepEqual(await bench.effects(), []);
    const { state, reason } = await bench.row();
    // Statements after the deadlock can have been committed, each for itself.
    assert.deepEqual([state, reason], ['failed', kind === 'postgres' ? undefined : 'fatal']);
  },
);

testDriverTransactions(
  'a second transaction of the same run is rejected, and another job can run inside the first',
  async ({ open }) => {
    const bench = await open({ poolSize: 2 });
    await transact(bench, async (connection) => {
      await assert.rejects(
        bench.application.inRunTransaction(() => assert.fail()),
        RunAlreadyCompletedError,
      );
      await transact(bench, (inner) => bench.effect(inner), { name: 'inner' });
      await bench.effect(connection);
    });
    assert.deepEqual(await bench.effects(), [1, 1]);
    assert.equal((await bench.row('inner')).state, 'completed');
    assert.equal((await bench.row()).state, 'completed');
  },
  ONE_EACH,
);

testDriverTransactions(
  'the isolation level is that of the option, and the idle limit is the lease until the transaction ends',
  async ({ kind, open }) => {
    const bench = await open({ poolSize: 1 });
    const { application } = bench;
    const words = WORDS[kind];
    const settings = async (): Promise<number[]> => {
      const { connection, release } = await application.borrow();
      const found = [await number(connection, words.id), await number(connection, words.limitMs)];
      release();
      return found;
    };
    const { connection: first, release } = await application.borrow();
    await first.query(words.set);
    release();
    const before = await settings();
    await bench.run(() =>
      application.inRunTransaction(
        async (connection) => {
          const limitMs = await number(connection, words.limitMs);
          assert.ok(limitMs > 50_000 && limitMs <= 60_000, `${limitMs} ms`);
          if (kind !== 'postgres') return;
          const [shown] = await connection.query('SHOW transaction_isolation');
          assert.deepEqual(shown, { transaction_isolation: 'serializable' });
        },
        { isolationLevel: 'SERIALIZABLE' },
      ),
    );
    assert.deepEqual(await settings(), before);
    assert.equal(before[1], 12_345_000);
  },
  ONE_EACH,
);

const OTHERS = { mysql: pgDriver, mariadb: pgDriver, postgres: mysqlDriver } as const;

testDriverTransactions(
  'inRunTransaction of another subpath is rejected, and the error names both',
  async ({ kind, open }) => {
    const bench = await open();
    const [own, other] = kind === 'postgres' ? ['pg', 'mysql2'] : ['mysql2', 'pg'];
    await bench.run(async () => {
      const message = new RegExp(
        `^inRunTransaction\\(\\) needs a run whose guard was created with createJobGuard\\(\\) of cronlatch/${other}, not of cronlatch/${own}\\.$`,
      );
      const elsewhere = await reasonOf(OTHERS[kind].inRunTransaction(() => assert.fail()));
      assert.ok(elsewhere instanceof InvalidLockUseError);
      assert.match(elsewhere.message, message);
    });
  },
  ONE_EACH,
);

testDriverTransactions(
  'completeRunIn is rejected without a connection',
  async ({ kind, database, open }) => {
    const bench = await open();
    const { application } = bench;
    const refused = async (call: Promise<unknown>, message: RegExp): Promise<void> => {
      const error = await reasonOf(call);
      assert.ok(error instanceof InvalidLockUseError, String(error));
      assert.match(error.message, message);
      assert.ok(!error.message.includes(database.url));
    };
    await refused(application.completeRunIn(null), /^completeRunIn\(\) was called outside the run/);
    const { own, connection, release } = await application.borrow();
    await bench.run(async () => {
      for (const [value, what] of [
        [null, 'null'],
        [database.url, 'a string'],
        [application.pool, kind === 'postgres' ? 'BoundPool' : 'PromisePool'],
      ] as const)
        await refused(
          application.completeRunIn(value),
          new RegExp(
            `^completeRunIn\\(\\) cannot use ${what}\\. Pass the connection on which you have begun`,
          ),
        );
      await connection.query('START TRANSACTION');
      await bench.effect(connection);
      await application.completeRunIn(own, { result: { lines: 3 } });
      await assert.rejects(application.completeRunIn(own), RunAlreadyCompletedError);
      await connection.query('COMMIT');
    });
    release();
    assert.deepEqual(await bench.effects(), [1]);
    const { state, result } = await bench.row();
    assert.deepEqual([state, result], ['completed', '{"lines":3}']);
  },
  ONE_EACH,
);

testDriverTransactions(
  'a run that the transaction of the application did not commit fails with its attempt',
  async ({ open }) => {
    const bench = await open();
    const { connection, own, release } = await bench.application.borrow();
    const thrown = await reasonOf(
      bench.run(async () => {
        await connection.query('START TRANSACTION');
        await bench.effect(connection);
        await bench.application.completeRunIn(own);
        await connection.query('ROLLBACK');
      }),
    );
    release();
    assert.ok(thrown instanceof ClaimLostError, String(thrown));
    assert.match(thrown.message, /was not committed, so the attempt counts as failed/);
    assert.deepEqual(await bench.effects(), []);
    assert.equal((await bench.row(JOB.name)).state, 'failed');
  },
  ONE_EACH,
);

testDriverTransactions(
  'completeRunIn outside a transaction fails the run permanently, because its writes are committed',
  async ({ open }) => {
    const bench = await open();
    const { connection, own, release } = await bench.application.borrow();
    await assert.rejects(
      bench.run(async () => {
        await bench.effect(connection);
        await bench.application.completeRunIn(own);
      }),
      /^InvalidLockUseError: .*its transaction has already ended/,
    );
    release();
    const { state, reason } = await bench.row();
    assert.deepEqual([state, reason], ['failed', 'fatal']);
  },
  ONE_EACH,
);

testDriverTransactions(
  'a transaction elsewhere completes nothing, and the error names the right database',
  async ({ kind, database, open }) => {
    const bench = await open();
    const { application } = bench;
    // On MySQL, each database of the same server is right.
    await using other = closing(await databaseOn(kind === 'mysql' ? 'mariadb' : kind));
    const complete = async (): Promise<void> => {
      await using elsewhere = closing(await openPlain(kind, other.url));
      const error = await reasonOf(application.completeRunIn(elsewhere.connection));
      assert.ok(error instanceof InvalidLockUseError, String(error));
      assert.match(
        error.message,
        /^Cannot complete the run of job 'close-day' for today: the database of its transaction has no such run\. Use a transaction in the ledger's database, .*127\.0\.0\.1/,
      );
      assert.ok(!error.message.includes(database.url));
    };
    await bench.run(async () => {
      await complete();
      if (kind === 'postgres') await pgDriver.createTables(other.url);
      await complete();
      await application.inRunTransaction((connection) => bench.effect(connection));
    });
    assert.deepEqual(await bench.effects(), [1]);
  },
  ONE_EACH,
);

testDriverTransactions(
  'a transaction of another name of the same host completes the run',
  async ({ kind, database, open }) => {
    const bench = await open();
    const url = database.url.replace('127.0.0.1', 'localhost');
    await using other = closing(await openPlain(kind, url));
    await bench.run(async () => {
      await bench.application.completeRunIn(other.connection);
      await other.commit();
    });
    assert.equal((await bench.row()).state, 'completed');
  },
);

type Callback = (error: Error | null, connection: never, release: () => void) => void;

/** In callbacks, a pool of pg or of mysql2. */
function lendTo(bench: DriverTransactions, use: (own: never, release: () => void) => void): void {
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
