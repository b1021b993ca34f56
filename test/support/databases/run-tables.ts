import type { DataSource } from 'typeorm';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { migratedDataSource, timeExpressionsOf } from './lock-table';
import type { TestDatabase } from './fresh';

const migrations = [createCronlatchMigration()];

/** The application's DataSource, connected, with the lock table and the ledger's tables in its database. */
export function ledgerDataSource(
  database: Pick<TestDatabase, 'options'>,
  more: object = {},
): Promise<DataSource> {
  return migratedDataSource(database, { migrations, ...more });
}

/** In a database that already contains other tables. */
export async function createRunTables(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  for (const tables of [['ledger'], ['jobs'], ['operations']] as const)
    await new (createCronlatchMigration({ tables }))().up(runner);
  await runner.release();
}

const RUN_INSTANTS = [
  ...['next_attempt_at', 'lease_until', 'first_started_at', 'started_at', 'finished_at'],
  ...['created_at', 'updated_at'],
];

const JOB_INSTANTS = ['declared_at', 'answered_at', 'registered_at'];

const ACT_INSTANTS = ['at', 'due_at', 'expires_at', 'lease_until', 'ended_at'];

/**
 * For the ledger, moving everything but its periods back in time equals the passing of time. Periods keep
 * their times.
 */
export async function shiftRunsBack(dataSource: DataSource, milliseconds: number): Promise<void> {
  await shiftBack(dataSource, 'cronlatch_run', RUN_INSTANTS, milliseconds);
  await shiftBack(dataSource, 'cronlatch_run_event', ['at'], milliseconds);
}

export async function shiftJobsBack(dataSource: DataSource, milliseconds: number): Promise<void> {
  await shiftBack(dataSource, 'cronlatch_job', JOB_INSTANTS, milliseconds);
}

export async function shiftActsBack(dataSource: DataSource, milliseconds: number): Promise<void> {
  await shiftBack(dataSource, 'cronlatch_run_act', ACT_INSTANTS, milliseconds);
}

export async function shiftPeriodsBack(dataSource: DataSource, milliseconds: number): Promise<void> {
  await shiftBack(dataSource, 'cronlatch_run', ['period_start', 'period_end'], milliseconds);
}

async function shiftBack(
  dataSource: DataSource,
  table: string,
  columns: readonly string[],
  milliseconds: number,
): Promise<void> {
  const { earlier } = timeExpressionsOf(dataSource);
  const us = Math.round(milliseconds * 1000);
  const shifted = columns.map((column) => `${column} = ${earlier(column, us)}`);
  await dataSource.query(`UPDATE ${table} SET ${shifted.join(', ')}`);
}
