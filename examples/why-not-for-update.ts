/**
 * What SELECT … FOR UPDATE locks on MySQL and MariaDB: a whole table, nothing that excludes any session, or some rows.
 *
 * Run, with your server: DATABASE_URL=mysql://user:password@localhost:3306/database npm run example why-not-for-update
 * Prints:
 *   total = 5, by ALL on no index: 3 rows. The second session waits. A plain read: 3 rows. In share mode: waits.
 *     Locks: …
 *   customer = 25, by ref on by_customer: 0 rows. The second session gets 0 rows. A plain read: 0 rows. In share mode: 0 rows.
 *     Locks: …
 *   customer = 20, by ref on by_customer: 1 rows. The second session waits. A plain read: 1 rows. In share mode: waits.
 *     Locks: …
 *   customer BETWEEN 21 AND 29, by range on by_customer: 0 rows. The second session waits. A plain read: 0 rows. In share mode: waits.
 *     Locks: …
 *   While a transaction was open, … undo logs more had to be kept after 2000 updates.
 */
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';

const TABLE = 'for_update_orders';
const UPDATES = 2000;

async function rows(session: Connection, sql: string): Promise<RowDataPacket[]> {
  return (await session.query<RowDataPacket[]>(sql))[0];
}

/** How many rows a session gets, if it need not wait for another. */
async function outcome(session: Connection, sql: string): Promise<string> {
  try {
    await session.query('START TRANSACTION');
    return `${(await rows(session, sql)).length} rows`;
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
  const texts = found.map((lock) => `${lock['lock_mode']} on ${lock['place']} (${lock['lock_data']})`);
  return [...new Set(texts)].join(', ') || 'none listed';
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

async function main(): Promise<void> {
  const connect = async (): Promise<Connection> =>
    await createConnection({ uri: process.env['DATABASE_URL'] ?? 'mysql://app:secret@localhost:3306/app' });
  const sessions = [await connect(), await connect(), await connect()] as const;
  const [first, second, observer] = sessions;
  const isMariadb = String((await rows(observer, 'SELECT VERSION() AS version'))[0]?.['version']).includes(
    'Maria',
  );
  for (const session of sessions) await session.query('SET innodb_lock_wait_timeout = 1');
  await observer.query(`DROP TABLE IF EXISTS ${TABLE}`);
  await observer.query(
    `CREATE TABLE ${TABLE} (id INT PRIMARY KEY, customer INT, total INT, KEY by_customer (customer)) ENGINE = InnoDB`,
  );
  await observer.query(`INSERT INTO ${TABLE} VALUES (1, 10, 5), (2, 20, 5), (3, 30, 5)`);

  for (const condition of ['total = 5', 'customer = 25', 'customer = 20', 'customer BETWEEN 21 AND 29']) {
    const read = `SELECT id, customer, total FROM ${TABLE} WHERE ${condition}`;
    const [plan] = await rows(observer, `EXPLAIN FORMAT = TRADITIONAL ${read}`);
    await first.query('START TRANSACTION');
    const locked = await rows(first, `${read} FOR UPDATE`);
    const attempt = outcome(second, `${read} FOR UPDATE`);
    await new Promise((resolve) => setTimeout(resolve, 500)); // The second session gets its lock, or waits for it.
    const held = await locks(observer, isMariadb);
    const got = await attempt;
    console.log(
      `${condition}, by ${plan?.['type']} on ${plan?.['key'] ?? 'no index'}: ${locked.length} rows.`,
      `The second session ${got === 'waits' ? got : `gets ${got}`}.`,
      `A plain read: ${await outcome(second, read)}.`,
      `In share mode: ${await outcome(second, `${read} LOCK IN SHARE MODE`)}.`,
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
