import type { SqlValue } from '../../storage/sql/connections/sql-executor';
import type { AdaptedAnswer, AdaptedTransaction } from '../sql/adapted-transaction';
import { OTHER, requireMethods, requireServer } from './refusals';

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

const CALLER = 'fromKysely()';

/**
 * @param trx from `db.transaction().execute(async (trx) => …)`
 * @throws InvalidLockUseError if it is not on MySQL, MariaDB or PostgreSQL
 */
export function fromKysely(trx: KyselyTransaction): AdaptedTransaction {
  const expected = 'db.transaction().execute(async (trx) => { … }).';
  requireMethods(CALLER, trx, ['withoutPlugins', 'executeQuery', 'selectFrom'], expected);
  const dialect = requireServer(CALLER, dialectOf(trx as unknown as Compiling));
  return {
    dialect,
    async run(text, values) {
      const { rows, numAffectedRows } = await trx.withoutPlugins().executeQuery({
        sql: text,
        parameters: values,
        query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
        queryId: { queryId: 'cronlatch' },
      });
      return {
        rows: rows as AdaptedAnswer['rows'],
        affectedRows: numAffectedRows === undefined ? undefined : Number(numAffectedRows),
      };
    },
  };
}

interface Compiling {
  selectFrom(table: string): { where(...condition: readonly unknown[]): { compile(): { sql: string } } };
}

/** Kysely does not name its dialect, but its quotes and placeholders show it. Nothing is sent. */
function dialectOf(trx: Compiling): string {
  const { sql } = trx.selectFrom('t').where('c', '=', 1).compile();
  if (sql.includes('`')) return 'mysql';
  if (sql.includes('$1')) return 'postgres';
  return sql.includes('?') ? 'sqlite' : OTHER;
}
