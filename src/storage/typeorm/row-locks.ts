import type { DataSource } from 'typeorm';
import { SqlRowLockProvider, type RowLockProviderOptions } from '../sql/row-lock/row-lock-provider';
import { databaseOf } from './database';

/**
 * Holds each lock by an open transaction of MySQL, MariaDB or PostgreSQL, in a table of its own. COMMIT frees the lock,
 * and so does the end of the connection: at once after a crash, within about 5 s after the loss of a host.
 */
export class RowLockProvider extends SqlRowLockProvider {
  /**
   * @param dataSource its settings are used. It does not need to be initialized, and is never initialized or closed.
   * @throws InvalidLockConfigurationError for SQLite and other unsupported databases, or an invalid option
   */
  constructor(dataSource: DataSource, options: RowLockProviderOptions = {}) {
    super(databaseOf(dataSource), options);
  }
}
