/**
 * What SELECT … FOR UPDATE locks on MySQL and MariaDB: the same read locks no row, two rows, or the whole table, as the
 * data decides.
 *
 * Run, with your server: DATABASE_URL=mysql://user:password@localhost:3306/database npm run example why-not-for-update
 * Prints:
 *   50 rows, and 0 that match, by range on by_customer. The first session gets 0 rows.
 *     The same read: 0 rows. Another row: 1 rows. An insert for customer 10: done. For customer 200: waits. A plain read: 0 rows. In share mode: 0 rows.
 *     Locks: …
 *   50 rows, and 2 that match, by range on by_customer. The first session gets 2 rows.
 *     The same read: waits. Another row: 1 rows. An insert for customer 10: done. For customer 200: waits. A plain read: 2 rows. In share mode: waits.
 *     Locks: …
 *   50 rows, and 60 that match, by ALL on no index. The first session gets 60 rows.
 *     The same read: waits. Another row: waits. An insert for customer 10: waits. For customer 200: waits. A plain read: 60 rows. In share mode: waits.
 *     Locks: …
 *   While a transaction was open, … undo logs more had to be kept after 2000 updates.
 */
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';

const TABLE = 'for_update_orders';
const UPDATES = 2000;
const MOST_SHOWN = 5;
/** No order of the first 50 customers matches. */
const READ = `SELECT id, customer, total FROM ${TABLE} WHERE customer > 50`;

async function rows(session: Connection, sql: string): Promise<RowDataPacket[]> {
  return (await session.query<RowDataPacket[]>(sql))[0];
}

/** What a session gets, if it need not wait for another. */
async function outcome(session: Connection, sql: string): Promise<string> {
  try {
    await session.query('START TRANSACTION');
    const [answer] = await session.query(sql);
    return Array.isArray(answer) ? `${answer.length} rows` : 'done';
  } catch (error) {
    if ((error as { code?: string }).code === 'ER_LOCK_WAIT_TIMEOUT') return 'waits';
    throw error;
  } finally {
    await session.query('ROLLBACK');
  }
}

/** MariaDB lists only the locks that other sessions wait for. */
async function locks(observer: Connection, isMariadb: boolean): Promise<string> {
  const found = isMariadb
    ? await rows(
        observer,
        `SELECT lock_mode, lock_index AS place, lock_data FROM information_schema.innodb_locks`,
      )
    : await rows(
        observer,
        `SELECT lock_mode, index_name AS place, lock_data FROM performance_schema.data_locks
         WHERE object_schema = DATABASE() AND lock_type = 'RECORD' AND lock_status = 'GRANTED'`,
      );
  const texts = [
    ...new Set(found.map((lock) => `${lock['lock_mode']} on ${lock['place']} (${lock['lock_data']})`)),
  ];
  const more = texts.length > MOST_SHOWN ? `, and ${texts.length - MOST_SHOWN} more` : '';
  return texts.length === 0 ? 'none listed' : texts.slice(0, MOST_SHOWN).join(', ') + more;
}

async function historyLength(observer: Connection, isMariadb: boolean): Promise<number> {
  const [row] = await rows(
    observer,
    isMariadb
      ? `SELECT variable_value AS length FROM information_schema.global_status WHERE variable_name = 'innodb_history_list_length'`
      : `SELECT count AS length FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'`,
  );
  return Number(row?.['length']);
}

/** 50 orders of the customers 1 to 50, and one of each customer from 101 on. */
async function fill(observer: Connection, matches: number): Promise<void> {
  await observer.query(`DROP TABLE IF EXISTS ${TABLE}`);
  await observer.query(
    `CREATE TABLE ${TABLE} (id INT PRIMARY KEY, customer INT, total INT, KEY by_customer (customer)) ENGINE = InnoDB`,
  );
  const orders = [
    ...Array.from({ length: 50 }, (_, index) => [index + 1, index + 1, 5]),
    ...Array.from({ length: matches }, (_, index) => [1001 + index, 101 + index, 5]),
  ];
  await observer.query(`INSERT INTO ${TABLE} VALUES ?`, [orders]);
  await observer.query(`ANALYZE TABLE ${TABLE}`);
}

async function main(): Promise<void> {
  const connect = async (): Promise<Connection> =>
    await createConnection({ uri: process.env['DATABASE_URL'] ?? 'mysql://app:secret@localhost:3306/app' });
  const sessions = [await connect(), await connect(), await connect()] as const;
  const [first, second, observer] = sessions;
  const isMariadb = String((await rows(observer, 'SELECT VERSION() AS version'))[0]?.['version']).includes(
    'Maria',
  );
  for (const session of sessions) await session.query('SET innodb_lock_wait_timeout = 1');

  for (const matches of [0, 2, 60]) {
    await fill(observer, matches);
    const [plan] = await rows(observer, `EXPLAIN FORMAT = TRADITIONAL ${READ}`);
    await first.query('START TRANSACTION');
    const locked = await rows(first, `${READ} FOR UPDATE`);
    console.log(
      `50 rows, and ${matches} that match, by ${plan?.['type']} on ${plan?.['key'] ?? 'no index'}.`,
      `The first session gets ${locked.length} rows.`,
    );
    const attempt = outcome(second, `${READ} FOR UPDATE`);
    await new Promise((resolve) => setTimeout(resolve, 500)); // The second session gets its lock, or waits for it.
    const held = await locks(observer, isMariadb);
    console.log(
      `  The same read: ${await attempt}.`,
      `Another row: ${await outcome(second, `SELECT id FROM ${TABLE} WHERE id = 10 FOR UPDATE`)}.`,
      `An insert for customer 10: ${await outcome(second, `INSERT INTO ${TABLE} VALUES (500, 10, 5)`)}.`,
      `For customer 200: ${await outcome(second, `INSERT INTO ${TABLE} VALUES (500, 200, 5)`)}.`,
      `A plain read: ${await outcome(second, READ)}.`,
      `In share mode: ${await outcome(second, `${READ} LOCK IN SHARE MODE`)}.`,
    );
    console.log(`  Locks: ${held}`);
    await first.query('ROLLBACK');
  }

  await first.query('START TRANSACTION WITH CONSISTENT SNAPSHOT'); // Like any plain read in a transaction.
  const before = await historyLength(observer, isMariadb);
  for (let update = 0; update < UPDATES; update += 1)
    await second.query(`UPDATE ${TABLE} SET total = total + 1 WHERE id = 1`);
  const more = (await historyLength(observer, isMariadb)) - before;
  console.log(
    `While a transaction was open, ${more} undo logs more had to be kept after ${UPDATES} updates.`,
  );
  await first.query('ROLLBACK');
  await observer.query(`DROP TABLE ${TABLE}`);
  for (const session of sessions) await session.end();
}

void main();
