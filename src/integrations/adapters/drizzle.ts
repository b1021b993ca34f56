import { InvalidLockUseError } from '../../core';
import type { AdaptedTransaction } from '../sql/adapted-transaction';
import { driverAnswer, textParts } from './driver-statement';
import { OTHER, requireMethods, requireServer } from './refusals';

/** What cronlatch uses of a transaction of Drizzle. */
export interface DrizzleTransaction<Query> {
  execute(query: Query): PromiseLike<unknown>;
}

/** The tag `sql` of Drizzle. */
export type SqlTag<Query> = (strings: TemplateStringsArray, ...values: unknown[]) => Query;

const CALLER = 'fromDrizzle()';

/** Drizzle's names of its classes, which it compares itself. */
const KIND = Symbol.for('drizzle:entityKind');
const DIALECTS: Readonly<Record<string, string>> = {
  PgDatabase: 'postgres',
  MySqlDatabase: 'mysql',
  BaseSQLiteDatabase: 'sqlite',
};

/**
 * @param tx from `db.transaction(async (tx) => …)`
 * @param sql of drizzle-orm, which binds the values
 * @throws InvalidLockUseError if it is not on MySQL, MariaDB or PostgreSQL
 */
export function fromDrizzle<Query>(tx: DrizzleTransaction<Query>, sql: SqlTag<Query>): AdaptedTransaction {
  const expected = 'db.transaction(async (tx) => { … }).';
  requireMethods(CALLER, tx, ['transaction'], expected);
  const dialect = requireServer(CALLER, dialectOf(tx));
  requireMethods(CALLER, tx, ['execute'], expected);
  if (typeof sql !== 'function')
    throw new InvalidLockUseError(
      `${CALLER} needs sql of drizzle-orm as its second argument: fromDrizzle(tx, sql).`,
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

function dialectOf(tx: object): string {
  for (let type: unknown = tx.constructor; typeof type === 'function'; type = Object.getPrototypeOf(type)) {
    const dialect = DIALECTS[String((type as unknown as Record<symbol, unknown>)[KIND])];
    if (dialect !== undefined) return dialect;
  }
  return OTHER;
}
