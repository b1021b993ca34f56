import type { SqlValue } from '../../storage/sql/connections/sql-executor';
import type { AdaptedTransaction } from '../sql/adapted-transaction';
import { driverAnswer, textParts } from './driver-statement';
import { OTHER, requireMethods, requireServer } from './refusals';

/** What cronlatch uses of a transaction of Knex. */
export interface KnexTransaction {
  raw(text: string, bindings: readonly SqlValue[]): PromiseLike<unknown>;
}

const CALLER = 'fromKnex()';

/** Knex's names of dialects; others keep theirs. */
const DIALECTS: Readonly<Record<string, string>> = { postgresql: 'postgres', sqlite3: 'sqlite' };

/**
 * @param trx from `knex.transaction(async (trx) => …)`
 * @throws InvalidLockUseError if it is not on MySQL, MariaDB or PostgreSQL
 */
export function fromKnex(trx: KnexTransaction): AdaptedTransaction {
  requireMethods(CALLER, trx, ['raw'], 'knex.transaction(async (trx) => { … }).');
  const { client } = trx as { client?: { dialect?: unknown } };
  const name = client?.dialect;
  const dialect = requireServer(CALLER, typeof name === 'string' ? (DIALECTS[name] ?? name) : OTHER);
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
  const columns = Object.entries(row).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(columns) as Record<string, unknown>;
}
