import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockUseError } from 'cronlatch';
import {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPrisma,
  type AdaptedTransaction,
  type DrizzleTransaction,
  type KnexTransaction,
  type KyselyTransaction,
  type PrismaTransaction,
} from 'cronlatch/adapters';
import { testDrivers } from '../../support/benches/driver';
import { completeRunIn } from 'cronlatch/pg';

const tag = (): unknown => undefined;
const KIND: unique symbol = Symbol.for('drizzle:entityKind');
const raw = (): Promise<unknown> => Promise.resolve();

const ADAPTERS: readonly [string, (transaction: unknown) => AdaptedTransaction, RegExp][] = [
  ['fromKnex()', (trx) => fromKnex(trx as KnexTransaction), /knex\.transaction\(/],
  ['fromKysely()', (trx) => fromKysely(trx as KyselyTransaction), /db\.transaction\(\)\.execute\(/],
  ['fromDrizzle()', (tx) => fromDrizzle(tx as DrizzleTransaction<unknown>, tag), /db\.transaction\(/],
  ['fromPrisma()', (tx) => fromPrisma(tx as PrismaTransaction), /prisma\.\$transaction\(/],
];

for (const [name, adapt, expected] of ADAPTERS)
  void test(`${name} refuses what is not a transaction, and names both`, () => {
    for (const [wrong, described] of [
      [undefined, 'undefined'],
      [null, 'null'],
      ['trx', '"trx"'],
      [{ query: 1 }, '{ query: 1 }'],
    ] as const)
      assert.throws(
        () => adapt(wrong),
        (error) =>
          error instanceof InvalidLockUseError &&
          error.message.startsWith(`${name} cannot use ${described}. Pass it the transaction: `) &&
          expected.test(error.message),
      );
  });

const SQLITE = /on SQLite, because those of better-sqlite3 are synchronous/;

void test('transactions on other databases are refused by name', () => {
  const knex =
    (dialect?: string): (() => unknown) =>
    () =>
      fromKnex(Object.assign({ raw }, { client: { dialect } }));
  assert.throws(knex('sqlite3'), SQLITE);
  assert.throws(knex('mssql'), /fromKnex\(\) cannot use a transaction on mssql\. The ledger needs MySQL/);
  assert.throws(knex(), /fromKnex\(\) cannot use a transaction on another database/);

  const kysely =
    (text: string): (() => unknown) =>
    () => {
      const compiled = { where: () => ({ compile: () => ({ sql: text }) }) };
      return fromKysely({ withoutPlugins: raw, executeQuery: raw, selectFrom: () => compiled } as never);
    };
  assert.throws(kysely('select from "t" where "c" = ?'), SQLITE);
  assert.throws(kysely('select from "t" where "c" = @1'), /on another database/);

  const drizzle = (kind: string): (() => unknown) => {
    class Transaction {
      static readonly [KIND] = kind;
      readonly transaction = raw;
      readonly execute = raw;
    }
    return () => fromDrizzle(new Transaction(), tag);
  };
  assert.throws(drizzle('BaseSQLiteDatabase'), SQLITE);
  assert.throws(drizzle('SingleStoreDatabase'), /on another database/);

  const prisma =
    (_activeProvider: string): (() => unknown) =>
    () =>
      fromPrisma(
        Object.assign({ $queryRawUnsafe: raw, $executeRawUnsafe: raw }, { _activeProvider }) as never,
      );
  assert.throws(prisma('sqlite'), SQLITE);
  assert.throws(prisma('sqlserver'), /on sqlserver/);
});

void test('fromDrizzle needs the tag of Drizzle', () => {
  class Transaction {
    static readonly [KIND] = 'PgDatabase';
    readonly transaction = raw;
    readonly execute = raw;
  }
  assert.throws(() => fromDrizzle(new Transaction(), undefined as never), {
    code: 'CRONLATCH_INVALID_USE',
    message: 'fromDrizzle() needs sql of drizzle-orm as its second argument: fromDrizzle(tx, sql).',
  });
});

const JOB = { name: 'close-day', lockAtMostFor: '1m', oncePer: { period: 'day', timeZone: 'UTC' } } as const;

testDrivers(
  'a transaction on another kind of database is refused, and nothing is sent',
  async (bench) => {
    await bench.createTables();
    const guard = await bench.createJobGuard(bench.url, { pollInterval: false, logger: false });
    const run = (): Promise<never> => assert.fail('a statement was sent');
    const completed = guard.run(JOB, () => completeRunIn({ dialect: 'mysql', run }));
    await assert.rejects(completed, {
      code: 'CRONLATCH_INVALID_USE',
      message: /has no such run\. Use a transaction in the ledger's database, PostgreSQL at .*127\.0\.0\.1/,
    });
    await guard.close();
  },
  ['postgres'],
);
