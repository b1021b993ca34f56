import Database from 'better-sqlite3';
import * as mysql2 from 'mysql2';
import { readSqlite } from '#cronlatch/storage/better-sqlite3/sqlite-driver';
import { mysqlDriver } from '#cronlatch/storage/mysql2/mysql-driver';
import { postgresDriver } from '#cronlatch/storage/pg/postgres-driver';
import type { SqlDatabase } from '#cronlatch/storage/sql/database/sql-database';
import { postgresPool } from '../databases/postgres';
import type { DriverName } from './variants';

interface DriverPlace {
  readonly database: SqlDatabase;
  readonly close: () => Promise<void>;
}

/**
 * A database as a driver without TypeORM reaches it: with shared connections through the pool or the handle of an
 * application, otherwise from its address.
 */
export function driverPlace(driver: DriverName, connections: 'own' | 'shared', address: string): DriverPlace {
  const isShared = connections === 'shared';
  switch (driver) {
    case 'mysql2': {
      const pool = isShared ? mysql2.createPool(address) : undefined;
      const database = mysqlDriver.read(pool ?? address);
      return { database, close: async () => await pool?.promise().end() };
    }
    case 'pg': {
      const pool = isShared ? postgresPool({ connectionString: address }) : undefined;
      const database = postgresDriver.read(pool ?? address);
      return { database, close: async () => await pool?.end() };
    }
    case 'better-sqlite3': {
      const handle = isShared ? new Database(address) : undefined;
      const database = readSqlite(handle ?? `sqlite:${address}`);
      return { database, close: () => Promise.resolve(void handle?.close()) };
    }
  }
}
