import { readSqlite } from '#cronlatch/storage/better-sqlite3/sqlite-driver';
import { mysqlDriver } from '#cronlatch/storage/mysql2/mysql-driver';
import { postgresDriver } from '#cronlatch/storage/pg/postgres-driver';
import type { SqlDatabase } from '#cronlatch/storage/sql/connections/sql-database';
import type { DriverName } from './variants';

/** A database as a driver without TypeORM reaches it from its address. */
export function driverDatabase(driver: DriverName, address: string): SqlDatabase {
  switch (driver) {
    case 'mysql2':
      return mysqlDriver.read(address);
    case 'pg':
      return postgresDriver.read(address);
    case 'better-sqlite3':
      return readSqlite(address);
  }
}
