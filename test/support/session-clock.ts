import type { DataSource } from 'typeorm';
import { DatabaseAccess } from '#cronlatch/storage/typeorm/database-access';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';

/** Goes by the clock of the application's session, as a provider on its own connections goes by that of the server. */
export function providerOnSessionClock(application: DataSource): TypeOrmLockProvider {
  const access = new DatabaseAccess(application, { connections: 'shared' });
  Object.assign(access, { forTables: { ...access.forTables, sharesSessions: false } });
  return new TypeOrmLockProvider(application, {}, access);
}
