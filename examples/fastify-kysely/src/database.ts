import { Kysely, PostgresDialect, type Generated } from 'kysely';
import { Pool } from 'pg';

export interface Tables {
  /** One row per business day that is closed. */
  closing: { business_date: string; closed_at: Generated<Date> };
}

/** The guard uses the same pool. */
export const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });
export const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
