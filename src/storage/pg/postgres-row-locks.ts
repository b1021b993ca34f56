import { SqlRowLockProvider, type RowLockProviderOptions } from '../sql/row-lock/row-lock-provider';
import { postgresApplication, type PostgresSource } from './postgres-source';

/**
 * Holds each lock by an open transaction of PostgreSQL, in a table of its own. COMMIT frees the lock, and so does the end
 * of the connection: at once after a crash, within about 5 s after the loss of a host.
 */
export class RowLockProvider extends SqlRowLockProvider {
  /**
   * @param source an address, options of pg, or a pool. The provider connects with the settings of the pool.
   * @throws InvalidLockConfigurationError for an unusable source or an invalid option
   */
  constructor(source: PostgresSource, options: RowLockProviderOptions = {}) {
    super(postgresApplication(source, { transactionConnections: 1 }).database, options);
  }
}
