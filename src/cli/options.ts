import { Option, type Command } from 'commander';
import { describeValue } from '../core/describe-value';
import type { TablesOptions } from '../integrations/sql/tables';
import { UsageError } from './usage-error';

/** The options that lead to a database. */
export interface AddressOptions {
  readonly url?: string | undefined;
  readonly dataSource?: string | undefined;
}

/** The options that select and name the tables. */
export type TableNameOptions = Pick<TablesOptions, 'tables' | 'lockTable' | 'runTable' | 'schema'>;

type TableSet = NonNullable<TablesOptions['tables']>[number];

const TABLE_SETS: readonly string[] = ['lock', 'ledger'] satisfies TableSet[];

export function addAddressOptions(command: Command): Command {
  return command
    .option('--url <url>', 'address of the database (default: the environment variable DATABASE_URL)')
    .option('-d, --data-source <file>', 'JavaScript file that exports a TypeORM DataSource');
}

export function addTableOptions(command: Command): Command {
  const tables = new Option('--tables <sets>', 'lock, ledger or lock,ledger (default: both)');
  return command
    .addOption(tables.argParser(tableSetsOf))
    .option('--lock-table <name>', 'name of the lock table (default: shedlock)')
    .option('--run-table <name>', 'name of the table of runs (default: cronlatch_run)')
    .option('--schema <name>', "schema of the tables, on MySQL the database (default: the connection's)");
}

function tableSetsOf(text: string): TableSet[] {
  const sets = text.split(',').map((set) => set.trim());
  if (sets.every(isTableSet)) return sets;
  throw new UsageError(`--tables is ${describeValue(text)}: use lock, ledger or lock,ledger.`);
}

function isTableSet(text: string): text is TableSet {
  return TABLE_SETS.includes(text);
}
