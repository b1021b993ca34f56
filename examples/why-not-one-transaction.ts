/**
 * A lock that inserts its row and updates it: in one transaction, in autocommit, and by cronlatch.
 *
 * Run, with your server: DATABASE_URL=mysql://user:password@localhost:3306/database npm run example why-not-one-transaction
 * Prints:
 *   In one transaction: … of 800 attempts ended in a deadlock.
 *   In autocommit: 0 of 800 attempts ended in a deadlock.
 *   cronlatch: 0 of 800 attempts ended in a deadlock, and 100 of 800 got the lock.
 */
import type { LockProvider } from 'cronlatch/provider';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { createConnection, type Connection, type ResultSetHeader } from 'mysql2/promise';
import dataSource from '../ormconfig';

const TABLE = 'one_transaction_locks';
const SESSIONS = 8;
const ROUNDS = 100;
const ATTEMPTS = SESSIONS * ROUNDS;

/** In each round, all attempts want the same new lock at once. @returns how many of them got it or had a deadlock */
async function count(
  attempts: readonly ((name: string) => Promise<boolean>)[],
  kind: string,
): Promise<[number, number]> {
  let [granted, deadlocks] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const results = await Promise.allSettled(attempts.map((attempt) => attempt(`${kind}-${round}`)));
    for (const result of results) {
      if (result.status === 'fulfilled') granted += Number(result.value);
      else if ((result.reason as { code?: string }).code === 'ER_LOCK_DEADLOCK') deadlocks += 1;
      else throw result.reason;
    }
  }
  return [granted, deadlocks];
}

async function insertAndUpdate(session: Connection, name: string): Promise<boolean> {
  await session.query(`INSERT IGNORE INTO ${TABLE} VALUES (?, 0)`, [name]);
  const update = `UPDATE ${TABLE} SET held = 1 WHERE name = ? AND held = 0`;
  const [{ affectedRows }] = await session.query<ResultSetHeader>(update, [name]);
  return affectedRows === 1;
}

async function inOneTransaction(session: Connection, name: string): Promise<boolean> {
  await session.query('START TRANSACTION');
  try {
    return await insertAndUpdate(session, name);
  } finally {
    await session.query('COMMIT');
  }
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the lock table.
  await dataSource.query(`DROP TABLE IF EXISTS ${TABLE}`);
  await dataSource.query(`CREATE TABLE ${TABLE} (name VARCHAR(64) PRIMARY KEY, held INT) ENGINE = InnoDB`);
  const uri = process.env['DATABASE_URL'] ?? '';
  const each = Array.from({ length: SESSIONS });
  const sessions = await Promise.all(each.map(() => createConnection({ uri })));

  const [, together] = await count(
    sessions.map((session) => (name) => inOneTransaction(session, name)),
    'together',
  );
  console.log(`In one transaction: ${together} of ${ATTEMPTS} attempts ended in a deadlock.`);
  const [, apart] = await count(
    sessions.map((session) => (name) => insertAndUpdate(session, name)),
    'apart',
  );
  console.log(`In autocommit: ${apart} of ${ATTEMPTS} attempts ended in a deadlock.`);

  const providers = each.map(() => new TypeOrmLockProvider(dataSource));
  const attempt = (provider: LockProvider) => async (name: string) =>
    (await provider.lock({ name, lockAtMostFor: '1m' })) !== undefined;
  const [granted, ours] = await count(providers.map(attempt), `cronlatch-${process.pid}`);
  console.log(
    `cronlatch: ${ours} of ${ATTEMPTS} attempts ended in a deadlock, and ${granted} of ${ATTEMPTS} got the lock.`,
  );

  for (const provider of providers) await provider.close();
  for (const session of sessions) await session.end();
  await dataSource.query(`DROP TABLE ${TABLE}`);
  await dataSource.destroy();
}

void main();
