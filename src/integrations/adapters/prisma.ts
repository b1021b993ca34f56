import type { SqlValue } from '../../storage/sql/connections/sql-executor';
import type { AdaptedAnswer, AdaptedTransaction } from '../sql/adapted-transaction';
import { requireMethods, requireServer } from './refusals';

/** What cronlatch uses of an interactive transaction of Prisma. */
export interface PrismaTransaction {
  $executeRawUnsafe(text: string, ...values: SqlValue[]): PromiseLike<number>;
  $queryRawUnsafe(text: string, ...values: SqlValue[]): PromiseLike<unknown>;
}

const CALLER = 'fromPrisma()';

/** Prisma's names of databases; others keep theirs. */
const DIALECTS: Readonly<Record<string, string>> = { postgresql: 'postgres' };

/** A comment for MariaDB may come first. */
const RETURNS_ROWS = /^(?:\/\*.*?\*\/)?\s*SELECT\b|\bRETURNING\b/i;

/**
 * @param tx from `prisma.$transaction(async (tx) => …)`
 * @throws InvalidLockUseError if it is not on MySQL, MariaDB or PostgreSQL
 */
export function fromPrisma(tx: PrismaTransaction): AdaptedTransaction {
  const expected = 'prisma.$transaction(async (tx) => { … }).';
  requireMethods(CALLER, tx, ['$executeRawUnsafe', '$queryRawUnsafe'], expected);
  // An internal field, so a release may be without it.
  const { _activeProvider: name } = tx as { _activeProvider?: unknown };
  const dialect = typeof name === 'string' ? requireServer(CALLER, DIALECTS[name] ?? name) : undefined;
  return {
    dialect,
    async run(text, values) {
      if (!RETURNS_ROWS.test(text))
        return { rows: [], affectedRows: await tx.$executeRawUnsafe(text, ...values) };
      const rows = await tx.$queryRawUnsafe(text, ...values);
      return { rows: rows as AdaptedAnswer['rows'], affectedRows: undefined };
    },
  };
}
