import { newOwner } from '#cronlatch/core/lease/owner';
import { lockStatements } from '#cronlatch/storage/sql/lock/lock-statements';
import { tableOf } from '#cronlatch/storage/sql/schema/tables';
import type { SqlStatement } from '#cronlatch/storage/sql/statements/statement';
import type { Contender } from '../contest/contender';
import type { BareConnection, BareDatabase } from '../databases/bench-database';
import { BASELINE_LOCK, CONTENDED_LOCK, LOCK_AT_MOST_FOR_US } from './terms';

/** Sends statements by the driver alone. */
export interface Driver {
  /** @throws Error if it did not write or find that many rows */
  send(worker: number, statement: SqlStatement, rows: number): Promise<void>;
  end(): Promise<void>;
}

/** Workers beyond the number of connections share them, as with a pool. */
export async function openDriver(database: BareDatabase, size: number): Promise<Driver> {
  const opened = await Promise.all(Array.from({ length: size }, () => database.connect()));
  return {
    async send(worker, statement, wanted) {
      const rows = await (opened[worker % size] as BareConnection).send(statement);
      if (rows === wanted) return;
      throw new Error(
        `A statement of the baseline reached ${rows} rows instead of ${wanted}: ${statement.text}`,
      );
    },
    async end() {
      await Promise.all(opened.map((connection) => connection.end()));
    },
  };
}

type Key = 'insert' | 'takeOver' | 'unlock';

export type LockWriter = (key: Key, name: string, owner: string, atLeastUs?: number) => SqlStatement;

/** The library's own statements for a lock. */
export function lockWriter({ dialect, shape }: Pick<BareDatabase, 'dialect' | 'shape'>): LockWriter {
  const statements = lockStatements(dialect, tableOf('lock'), {
    ...shape,
    clockStepMs: 0,
    hasToken: true,
    comparesBytes: true,
    insertReturnsToken: true,
  });
  return (key, name, owner, atLeast = 0) =>
    statements[key].bind({ name, owner, atMost: LOCK_AT_MOST_FOR_US, atLeast });
}

export interface RawOptions {
  readonly connections: number;
  readonly workers: number;
}

/** Locks and unlocks, each worker its own row. */
export async function openRawPairs(
  database: BareDatabase,
  { connections, workers }: RawOptions,
): Promise<Contender> {
  const driver = await openDriver(database, connections);
  const lock = lockWriter(database);
  const names = Array.from({ length: workers }, (_, worker) => `${BASELINE_LOCK}-${connections}-${worker}`);
  for (const name of names) await insertReleased(driver, lock, name);
  return {
    async perform(worker) {
      const [name, owner] = [names[worker] ?? '', newOwner()];
      await driver.send(worker, lock('takeOver', name, owner), 1);
      await driver.send(worker, lock('unlock', name, owner), 1);
    },
    [Symbol.asyncDispose]: () => driver.end(),
  };
}

/** The contender is opened more than once, so its row can exist. */
export async function insertReleased(
  driver: Driver,
  lock: LockWriter,
  name: string,
  worker = 0,
): Promise<void> {
  const owner = newOwner();
  await driver
    .send(worker, lock('insert', name, owner), 1)
    .catch(() => driver.send(worker, lock('takeOver', name, owner), 1));
  await driver.send(worker, lock('unlock', name, owner), 1);
}

/** Attempts to take over a lock that another owner holds. */
export async function openRawAttempts(database: BareDatabase, connections: number): Promise<Contender> {
  const driver = await openDriver(database, connections);
  const lock = lockWriter(database);
  return {
    perform: (worker) => driver.send(worker, lock('takeOver', CONTENDED_LOCK, newOwner()), 0),
    [Symbol.asyncDispose]: () => driver.end(),
  };
}

/** By an owner that never releases it, and without a connection, because connections are counted. */
export async function holdContendedLock(database: BareDatabase): Promise<void> {
  const driver = await openDriver(database, 1);
  await driver.send(0, lockWriter(database)('insert', CONTENDED_LOCK, newOwner()), 1);
  await driver.end();
}
