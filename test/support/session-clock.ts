import type { DataSource } from 'typeorm';
import { DatabaseAccess } from '#cronlatch/storage/typeorm/database-access';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';

/**
 * Uses the clock of the application's session, as a provider with its own connections uses the server's
 * clock.
 */
export function providerOnSessionClock(application: DataSource): TypeOrmLockProvider {
  const access = new DatabaseAccess(application, { connections: 'shared' });
  Object.assign(access, { forTables: { ...access.forTables, sharesSessions: false } });
  return new TypeOrmLockProvider(application, {}, access);
}
