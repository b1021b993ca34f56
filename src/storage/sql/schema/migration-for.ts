import { DEFAULT_NAME_LENGTH } from '../../../core/lock-name';
import { DEFAULT_LOCK_TABLE, type LockTable } from './lock-table';
import { DEFAULT_RUN_TABLE, type RunTables } from './run-table';

/** What to do where the table is missing, as the user has to write it. */
export function migrationFor({ path, nameLength }: LockTable): string {
  const options = [
    "tables: ['lock']",
    ...tableOption('lockTable', path, DEFAULT_LOCK_TABLE),
    ...width(nameLength),
  ];
  return `${migrationOf(options)}, or create the table as the README shows`;
}

export function runMigrationFor({ run, nameLength }: RunTables): string {
  return migrationOf([
    "tables: ['ledger']",
    ...tableOption('runTable', run, DEFAULT_RUN_TABLE),
    ...width(nameLength),
  ]);
}

function migrationOf(options: readonly string[]): string {
  return `run the migration made by createCronlatchMigration({ ${options.join(', ')} })`;
}

function tableOption(option: string, path: readonly string[], defaultTable: string): string[] {
  const table = path.join('.');
  return table === defaultTable ? [] : [`${option}: '${table}'`];
}

function width(nameLength: number): string[] {
  return nameLength === DEFAULT_NAME_LENGTH ? [] : [`nameLength: ${nameLength}`];
}
