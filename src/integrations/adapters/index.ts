/**
 * Completes runs in transactions of Knex, Kysely, Drizzle and Prisma. Pass what these functions return to `completeRunIn`
 * of `cronlatch/mysql2` or `cronlatch/pg`. None of the query builders is a dependency.
 *
 * @packageDocumentation
 */
export type { SqlValue } from '../../storage/sql/statements/statement';
export type { AdaptedAnswer, AdaptedTransaction } from '../sql/adapted-transaction';
export * from './query-builders';
