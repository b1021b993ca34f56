import { InvalidLockUseError } from '../../core';
import { describeValue } from '../../core/options';
import type { SqlValue } from '../../storage/sql/statements/statement';
import type { AdaptedAnswer, AdaptedTransaction } from '../sql/adapted-transaction';

/** What cronlatch uses of a transaction of Knex. */
export interface KnexTransaction {
  raw(text: string, bindings: readonly SqlValue[]): PromiseLike<unknown>;
}

/**
 * @param trx from `knex.transaction(async (trx) => …)`
 * @throws InvalidLockUseError if it is not on MySQL, MariaDB or PostgreSQL
 */
export function fromKnex(trx: KnexTransaction): AdaptedTransaction {
  requireMethods('fromKnex()', trx, ['raw'], 'knex.transaction(async (trx) => { … }).');
  const { client } = trx as { client?: { dialect?: unknown } };
  const dialect = serverOf('fromKnex()', client?.dialect);
  return {
    dialect,
    async run(text, values) {
      // Knex has its own placeholders on all databases, in quoted names too.
      const parts = textParts(text).map((part) => part.replaceAll('?', '\\?'));
      const { rows, affectedRows } = driverAnswer(dialect, await trx.raw(parts.join('?'), values));
      return { rows: rows.map(withSnakeCase), affectedRows };
    },
  };
}

/** An application can make Knex convert the names of columns to camelCase. */
function withSnakeCase(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const nameOf = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [nameOf(key), value]));
}

/** What cronlatch uses of a transaction of Kysely. */
export interface KyselyTransaction {
  /** Without plugins, the names of columns stay unchanged. */
  withoutPlugins(): {
    executeQuery(query: KyselyQuery): Promise<{
      readonly rows: readonly unknown[];
      readonly numAffectedRows?: bigint | undefined;
    }>;
  };
}

/** A `CompiledQuery` of Kysely. */
export interface KyselyQuery {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  readonly query: {
    readonly kind: 'RawNode';
    readonly sqlFragments: readonly string[];
    readonly parameters: readonly never[];
  };
  readonly queryId: { readonly queryId: string };
}

/**
 * @param trx from `db.transaction().execute(async (trx) => …)`
 * @throws InvalidLockUseError if it is not on MySQL, MariaDB or PostgreSQL
 */
export function fromKysely(trx: KyselyTransaction): AdaptedTransaction {
  const expected = 'db.transaction().execute(async (trx) => { … }).';
  requireMethods('fromKysely()', trx, ['withoutPlugins', 'executeQuery', 'selectFrom'], expected);
  const dialect = serverOf('fromKysely()', dialectOfKysely(trx as unknown as Compiling));
  return {
    dialect,
    async run(text, values) {
      const { rows, numAffectedRows } = await trx.withoutPlugins().executeQuery({
        sql: text,
        parameters: values,
        query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
        queryId: { queryId: 'cronlatch' },
      });
      const affectedRows = numAffectedRows === undefined ? undefined : Number(numAffectedRows);
      return { rows: rows as AdaptedAnswer['rows'], affectedRows };
    },
  };
}

interface Compiling {
  selectFrom(table: string): { where(...condition: readonly unknown[]): { compile(): { sql: string } } };
}

/** Kysely does not name its dialect, but its quotes and placeholders show it. Nothing is sent. */
function dialectOfKysely(trx: Compiling): string | undefined {
  const { sql } = trx.selectFrom('t').where('c', '=', 1).compile();
  if (sql.includes('`')) return 'mysql';
  if (sql.includes('$1')) return 'postgres';
  return sql.includes('?') ? 'sqlite' : undefined;
}

/** What cronlatch uses of a transaction of Drizzle. */
export interface DrizzleTransaction<Query> {
  execute(query: Query): PromiseLike<unknown>;
}

/** The tag `sql` of Drizzle. */
export type SqlTag<Query> = (strings: TemplateStringsArray, ...values: unknown[]) => Query;

/**
 * @param tx from `db.transaction(async (tx) => …)`
 * @param sql of drizzle-orm, which binds the values
 * @throws InvalidLockUseError if it is not on MySQL, MariaDB or PostgreSQL
 */
export function fromDrizzle<Query>(tx: DrizzleTransaction<Query>, sql: SqlTag<Query>): AdaptedTransaction {
  const expected = 'db.transaction(async (tx) => { … }).';
  requireMethods('fromDrizzle()', tx, ['transaction'], expected);
  const dialect = serverOf('fromDrizzle()', dialectOfDrizzle(tx));
  requireMethods('fromDrizzle()', tx, ['execute'], expected); // Those on SQLite have none.
  if (typeof sql !== 'function')
    throw new InvalidLockUseError(
      `fromDrizzle() needs sql of drizzle-orm as its second argument: fromDrizzle(tx, sql).`,
    );
  return {
    dialect,
    async run(text, values) {
      const parts = textParts(text);
      const strings = Object.assign([...parts], { raw: parts });
      return driverAnswer(dialect, await tx.execute(sql(strings, ...values)));
    },
  };
}

/** By Drizzle's names of its classes, which it compares itself. */
function dialectOfDrizzle(tx: object): string | undefined {
  const kind = Symbol.for('drizzle:entityKind');
  for (let type: unknown = tx.constructor; typeof type === 'function'; type = Object.getPrototypeOf(type)) {
    const name = String((type as unknown as Record<symbol, unknown>)[kind]);
    if (DIALECTS.has(name)) return name;
  }
  return undefined;
}

/** What cronlatch uses of an interactive transaction of Prisma. */
export interface PrismaTransaction {
  $executeRawUnsafe(text: string, ...values: SqlValue[]): PromiseLike<number>;
  $queryRawUnsafe(text: string, ...values: SqlValue[]): PromiseLike<unknown>;
}

/** A comment for MariaDB may come first. */
const RETURNS_ROWS = /^(?:\/\*.*?\*\/)?\s*SELECT\b|\bRETURNING\b/i;

/**
 * @param tx from `prisma.$transaction(async (tx) => …)`
 * @throws InvalidLockUseError if it is not on MySQL, MariaDB or PostgreSQL
 */
export function fromPrisma(tx: PrismaTransaction): AdaptedTransaction {
  const expected = 'prisma.$transaction(async (tx) => { … }).';
  requireMethods('fromPrisma()', tx, ['$executeRawUnsafe', '$queryRawUnsafe'], expected);
  // An internal field, so a release may be without it.
  const { _activeProvider: name } = tx as { _activeProvider?: unknown };
  return {
    dialect: typeof name === 'string' ? serverOf('fromPrisma()', name) : undefined,
    async run(text, values) {
      if (!RETURNS_ROWS.test(text))
        return { rows: [], affectedRows: await tx.$executeRawUnsafe(text, ...values) };
      const rows = await tx.$queryRawUnsafe(text, ...values);
      return { rows: rows as AdaptedAnswer['rows'], affectedRows: undefined };
    },
  };
}

/** @throws InvalidLockUseError if these are not methods of the transaction */
function requireMethods(
  caller: string,
  transaction: unknown,
  methods: readonly string[],
  expected: string,
): void {
  const members = Object(transaction) as Record<string, unknown>;
  if (methods.every((name) => typeof members[name] === 'function')) return;
  throw new InvalidLockUseError(
    `${caller} cannot use ${describeValue(transaction)}. Pass it the transaction: ${expected}`,
  );
}

/** What query builders call the databases. Others keep their names. */
const DIALECTS = new Map([
  ['postgresql', 'postgres'],
  ['sqlite3', 'sqlite'],
  ['PgDatabase', 'postgres'],
  ['MySqlDatabase', 'mysql'],
  ['BaseSQLiteDatabase', 'sqlite'],
]);

/** @throws InvalidLockUseError unless the transaction is on a database that it can complete a run in */
function serverOf(caller: string, name: unknown): 'mysql' | 'postgres' {
  const dialect = typeof name === 'string' ? (DIALECTS.get(name) ?? name) : 'another database';
  if (dialect === 'mysql' || dialect === 'postgres') return dialect;
  if (dialect === 'sqlite')
    throw new InvalidLockUseError(
      `${caller} cannot use a transaction on SQLite, because those of better-sqlite3 are synchronous. In the transaction, call completeRunIn(database) of cronlatch/better-sqlite3 instead.`,
    );
  throw new InvalidLockUseError(
    `${caller} cannot use a transaction on ${dialect}. The ledger needs MySQL, MariaDB or PostgreSQL.`,
  );
}

/** The text around the placeholders of a statement. A quoted name may contain what looks like one. */
function textParts(text: string): readonly string[] {
  return text
    .replace(/("(?:[^"]|"")*"|`(?:[^`]|``)*`)|\?|\$\d+/g, (_, quoted?: string) => quoted ?? BREAK)
    .split(BREAK);
}

/** No statement contains it. */
const BREAK = '\0';

/** A driver's answer, passed on: `[header]` or `[rows]` of mysql2, `{ rows }` of pg, or the rows alone. */
function driverAnswer(dialect: 'mysql' | 'postgres', answer: unknown): AdaptedAnswer {
  const [first] = dialect === 'mysql' && Array.isArray(answer) ? (answer as unknown[]) : [answer];
  if (Array.isArray(first)) return { rows: first as AdaptedAnswer['rows'], affectedRows: undefined };
  const { rows = [], affectedRows } = first as Partial<AdaptedAnswer>;
  return { rows, affectedRows };
}
