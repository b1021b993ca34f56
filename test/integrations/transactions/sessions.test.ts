/** Settings of the session in which a transaction runs, and the statements that it sends. */
import assert from 'node:assert/strict';
import { closing } from '../../support/benches/closing';
import {
  JOB,
  testServerTransactions,
  testTransactions,
  type TransactionBench,
} from '../../support/benches/transaction';
import { makeEffect } from '../../support/databases/effects';
import { MYSQL, number, WORDS } from '../../support/databases/session-words';
import { statementLog } from '../../support/databases/statement-log';
import type { Borrowed } from '../../support/transaction-contract/application';

const ON_MYSQL = ['mysql', 'mariadb'] as const;

/** Uses the only connection of the pool. */
async function onConnection<T>(
  { application }: TransactionBench,
  use: (connection: Borrowed['connection']) => Promise<T>,
): Promise<T> {
  const { connection, release } = await application.borrow();
  try {
    return await use(connection);
  } finally {
    release();
  }
}

testServerTransactions(
  'the isolation level is that of the option, and the idle limit is the lease until the transaction ends, on the same connection',
  async ({ kind, open }) => {
    const bench = await open({ poolSize: 1 });
    const words = WORDS[kind];
    const settings = (): Promise<number[]> =>
      onConnection(bench, async (connection) => [
        await number(connection, words.id),
        await number(connection, words.limitMs),
      ]);
    await onConnection(bench, (connection) => connection.query(words.set));
    const before = await settings();
    const book = (end: () => void): Promise<void> =>
      bench.book(
        async (transaction) => {
          const limitMs = await number(transaction, words.limitMs);
          assert.ok(limitMs > 50_000 && limitMs <= 60_000, `${limitMs} ms`);
          if (kind === 'postgres') {
            const [shown] = await transaction.query('SHOW transaction_isolation');
            assert.deepEqual(shown, { transaction_isolation: 'serializable' });
          }
          end();
        },
        { isolationLevel: 'SERIALIZABLE' },
      );
    const fails = new Error('no bank today');
    await assert.rejects(
      bench.run(() =>
        book(() => {
          throw fails;
        }),
      ),
      fails,
    );
    assert.deepEqual(await settings(), before);
    await bench.run(() => book(() => {}));
    assert.deepEqual(await settings(), before);
    assert.equal(before[1], 12_345_000);
    await bench.is('completed', [2]);
  },
);

testTransactions(
  'texts are stored unchanged in sessions with other string settings',
  async (bench) => {
    const modes = `SESSION sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES,ANSI_QUOTES')`;
    await onConnection(bench, (connection) => connection.query(`SET NAMES latin1, ${modes}`));
    const value = `it's \\' "so" \\\\ é 𝄞 ? :job \n`;
    await bench.tick(async (transaction) => {
      const [mode] = await transaction.query('SELECT @@sql_mode AS mode');
      assert.match(String(mode?.['mode']), /NO_BACKSLASH_ESCAPES/);
      return value;
    });
    assert.equal(JSON.parse((await bench.row()).result ?? 'null'), value);
  },
  { on: ON_MYSQL, poolSize: 1 },
);

for (const completionType of ['CHAIN', 'RELEASE'])
  testTransactions(
    `in a session with completion_type ${completionType}, COMMIT ends the transaction, and does not begin another`,
    async (bench) => {
      const idOf = (): Promise<number> => onConnection(bench, (connection) => number(connection, MYSQL.id));
      const id = await idOf();
      await onConnection(bench, (connection) =>
        connection.query(`SET SESSION completion_type = '${completionType}'`),
      );
      await bench.tick();
      assert.equal(await idOf(), id);
      await onConnection(bench, (connection) =>
        makeEffect(connection, { periodKey: 'tomorrow', attempt: 7 }),
      );
      assert.deepEqual(await bench.effects(), [1, 7], 'a statement is committed automatically');
      const kept = await onConnection(bench, (connection) =>
        connection.query('SELECT @@completion_type AS kept'),
      );
      assert.deepEqual({ ...kept[0] }, { kept: completionType });
      assert.deepEqual(bench.eventsOf('guard:warning'), []);
    },
    { on: ON_MYSQL, poolSize: 1 },
  );

testServerTransactions(
  'a transactional run costs six statements around its work',
  async ({ kind, database, open }) => {
    await using log = closing(await statementLog(kind, database));
    const bench = await open({ url: log.url });
    const next = (periodKey: string): Promise<unknown> =>
      bench.tick(undefined, { oncePer: { ...JOB.oncePer, period: () => periodKey } });
    await next('yesterday');
    log.statements();
    await next('today');
    const verbs = log.statements().map((text) => text.trim().replace(/\s.*/s, '').replace('BEGIN', 'START'));
    const ofTransaction = verbs.slice(verbs.indexOf('START'), -1);
    const idleLimit = kind === 'postgres' ? [] : ['SET'];
    const probe = kind === 'postgres' ? 'SELECT' : 'DO';
    assert.deepEqual(ofTransaction, ['START', 'SET', 'INSERT', probe, 'UPDATE', 'COMMIT', ...idleLimit]);
    // The peek, the lock, the claim, and the release.
    assert.deepEqual(
      [...verbs.slice(0, verbs.indexOf('START')), verbs.at(-1)],
      ['SELECT', kind === 'postgres' ? 'WITH' : 'UPDATE', 'INSERT', 'UPDATE'],
    );
  },
);
