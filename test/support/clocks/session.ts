import type { DataSource } from 'typeorm';
import { DatabaseAccess } from '#cronlatch/storage/sql/database/database-access';
import { SqlLockProvider } from '#cronlatch/storage/sql/database/sql-lock-provider';
import { databaseOf } from '#cronlatch/storage/typeorm/database';

/**
 * Uses the clock of the application's session, as a provider with its own connections uses the server's
 * clock.
 */
export function providerOnSessionClock(application: DataSource): SqlLockProvider {
  const database = databaseOf(application);
  const access = new DatabaseAccess(database, { connections: 'shared' });
  Object.assign(access, { forTables: { ...access.forTables, sharesSessions: false } });
  return new SqlLockProvider(database, {}, access);
}
