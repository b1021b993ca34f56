import { Option, type Command } from 'commander';
import { describeValue } from '../core/options';
import type { TablesOptions } from '../integrations/sql/tables';
import { checkDayRule, dayOf, instantIn, startOfDayMs } from '../ledger/periods/business-date';
import type { PeriodOptions } from '../ledger/periods/period';
import { isTableSet, type TableSet } from '../storage/sql/schema/tables';
import { UsageError } from './failure';

export interface Options extends Pick<TablesOptions, 'lockTable' | 'runTable' | 'jobTable' | 'schema'> {
  readonly url?: string | undefined;
  readonly dataSource?: string | undefined;
  /** A file that exports the application's guard. */
  readonly app?: string | undefined;
  readonly json?: boolean | undefined;
  readonly utc?: boolean | undefined;
  readonly scope?: string | undefined;
}

export interface ChangeOptions extends Options {
  readonly reason: string;
  readonly actor: string;
  readonly yes?: boolean | undefined;
}

export function addAddressOptions(command: Command): Command {
  const url = new Option(
    '--url <url>',
    'address of the database (default: the environment variable DATABASE_URL)',
  );
  return command
    .addOption(url.conflicts('dataSource'))
    .option('-d, --data-source <file>', 'JavaScript file that exports a TypeORM DataSource, or its options');
}

export function addTableOptions(command: Command): Command {
  const sets =
    'any of lock, ledger, jobs, operations and row-lock, separated by commas (default: all but row-lock)';
  return addTableNames(command.option('--tables <sets>', sets, tableSetsOf)).option(
    '--row-lock-table <name>',
    'name of the table of row locks (default: cronlatch_row_lock)',
  );
}

export function addGuardSource(command: Command): Command {
  const app = new Option('--app <file>', 'JavaScript file that exports the job guard of the application');
  return addTableNames(addAddressOptions(command)).addOption(
    app.conflicts(['url', 'dataSource', 'lockTable', 'runTable', 'jobTable', 'schema']),
  );
}

function addTableNames(command: Command): Command {
  return command
    .option('--lock-table <name>', 'name of the lock table (default: shedlock)')
    .option('--run-table <name>', 'name of the table of runs (default: cronlatch_run)')
    .option('--job-table <name>', 'name of the table of the register of jobs (default: cronlatch_job)')
    .option('--schema <name>', "schema of the tables, on MySQL the database (default: the connection's)");
}

/** @throws UsageError if the text is not an instant with its offset */
export function instantOf(text: string, option: string): Date {
  const instant = instantIn(text);
  if (instant !== undefined) return instant;
  throw new UsageError(
    `${option} is ${describeValue(text)}: use an instant with its offset, such as 2026-11-23T06:00Z.`,
  );
}

/** @throws UsageError if the text is neither an instant nor a business date, which stands for its start */
export function startOf(text: string, option: string, period: PeriodOptions): Date {
  if (/^\d+-\d+-\d+$/.test(text)) return new Date(startOfDayMs(dayOf(text, option), checkDayRule(period)));
  const instant = instantIn(text);
  if (instant !== undefined) return instant;
  throw new UsageError(
    `${option} is ${describeValue(text)}: write a date, as in 2026-11-20, or an instant with its offset, as in 2026-11-20T03:00:00Z.`,
  );
}

function tableSetsOf(text: string): TableSet[] {
  const sets = text.split(',').map((set) => set.trim());
  if (sets.every(isTableSet)) return sets;
  throw new UsageError(
    `--tables is ${describeValue(text)}: use lock, ledger, jobs, operations and row-lock, separated by commas.`,
  );
}
