import type { Queryable } from './effects';
import type { ServerName } from './fresh';

/** The statements of each server for a session's timeout and id. */
export interface Words {
  readonly set: string;
  readonly limitMs: string;
  readonly id: string;
  readonly sessions: string;
}

export const MYSQL: Words = {
  set: 'SET SESSION wait_timeout = 12345',
  limitMs: 'SELECT @@SESSION.wait_timeout * 1000 AS value',
  id: 'SELECT CONNECTION_ID() AS value',
  // Its information_schema.processlist fails while any session sends a statement with four-byte text.
  sessions: 'SELECT processlist_id AS value FROM performance_schema.threads WHERE processlist_id IS NOT NULL',
};

export const WORDS: Readonly<Record<ServerName, Words>> = {
  mysql: MYSQL,
  mariadb: { ...MYSQL, sessions: 'SELECT id AS value FROM information_schema.processlist' },
  postgres: {
    set: `SET idle_in_transaction_session_timeout = '12345s'`,
    limitMs: `SELECT setting AS value FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'`,
    id: 'SELECT pg_backend_pid() AS value',
    sessions: 'SELECT pid AS value FROM pg_stat_activity',
  },
};

export async function number(where: Queryable, text: string): Promise<number> {
  const [first] = (await where.query(text)) as { value: unknown }[];
  return Number(first?.value);
}
