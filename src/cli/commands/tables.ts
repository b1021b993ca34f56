import { Option, type Command } from 'commander';
import { existsSync } from 'node:fs';
import { SchemaMismatchError } from '../../core';
import {
  createMissingTables,
  inspectTables,
  isAddition,
  tableDefinitions,
  type TablesOptions,
  type TableState,
} from '../../integrations/sql/tables';
import type { SqlDatabase } from '../../storage/sql/connections/sql-database';
import { mysql } from '../../storage/sql/dialects/mysql';
import { postgres } from '../../storage/sql/dialects/postgres';
import type { SqlDialect } from '../../storage/sql/dialects/sql-dialect';
import { sqlite } from '../../storage/sql/dialects/sqlite';
import { createTable } from '../../storage/sql/tables/create-table';
import type { SchemaFinding } from '../../storage/sql/schema/schema-finding';
import type { TableDefinition } from '../../storage/sql/schema/table-definition';
import { openDatabase, type OpenedDatabase } from '../database-of';
import { addAddressOptions, addTableOptions, type Options } from '../options';
import { confirm, isInteractive, print, printWarning } from '../terminal';

interface InitOptions extends TablesOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

const DIALECTS = { mysql, mariadb: mysql, postgres, sqlite };

interface FoundTable extends TableState {
  readonly state: 'exists' | 'missing' | 'incomplete' | 'differs';
}

/** `cronlatch init` creates the tables that are missing. `cronlatch sql` prints the statements, without a connection. */
export function addTableCommands(program: Command): void {
  const initCommand = program
    .command('init')
    .description('create the tables that are missing in a database')
    .option('--dry-run', 'only show what would be created, with the SQL statements')
    .option('-y, --yes', 'do not ask before creating the tables');
  addTableOptions(addAddressOptions(initCommand)).action(
    async ({ url, dataSource, ...others }: InitOptions & Pick<Options, 'url' | 'dataSource'>) => {
      const database = await openDatabase({ url, dataSource }, { creates: true });
      try {
        await init(database, others);
      } finally {
        await database.close?.();
      }
    },
  );
  const dialect = new Option('--dialect <name>', 'kind of database').choices(Object.keys(DIALECTS));
  const sqlCommand = program
    .command('sql')
    .description('print the SQL statements that create the tables')
    .addOption(dialect.makeOptionMandatory());
  addTableOptions(sqlCommand).action(
    ({ dialect: name, ...named }: TablesOptions & { readonly dialect: keyof typeof DIALECTS }) =>
      print(statementsOf(tableDefinitions({}, named), DIALECTS[name])),
  );
}

async function init(database: OpenedDatabase, { dryRun, yes, ...named }: InitOptions): Promise<void> {
  const isNewFile = database.file !== undefined && !existsSync(database.file);
  // A file that does not exist has no tables. Opening it would create it before the user has agreed.
  const found = isNewFile
    ? tableDefinitions(database, named).map((definition) => ({ definition, findings: [] }))
    : await inspectTables(database, named);
  const tables = found.map((table): FoundTable => ({
    ...table,
    state: isNewFile ? 'missing' : stateOf(table.findings),
  }));
  show(database, tables, isNewFile);
  const differing = tables.filter(({ state }) => state === 'differs');
  const errors = findingsOf(differing, 'error').map(({ message }) => message);
  if (errors.length > 0) throw new SchemaMismatchError(errors.join('\n'), { outcome: 'nothing-ran' });
  for (const { message } of findingsOf(tables, 'warning')) printWarning(message);
  const missing = tables.filter(({ state }) => state === 'missing').map(({ definition }) => definition);
  const added = tables.flatMap(({ state, findings }) =>
    state === 'incomplete' ? findings.filter(isAddition).map(({ remedy }) => `${remedy};\n`) : [],
  );
  if (missing.length + added.length === 0) return print('nothing to do');
  if (dryRun) return print([statementsOf(missing, database.dialect), ...added].join('\n'));
  if (!yes && isInteractive() && !(await confirm('Create what is missing?'))) return;
  if (isNewFile) await database.createFile?.();
  await createMissingTables(database, named);
  const incomplete = tables.filter(({ state }) => state === 'incomplete');
  if (missing.length > 0) print(`created ${missing.map(nameOf).join(', ')}`);
  for (const { definition } of incomplete) print(`added columns to ${nameOf(definition)}`);
}

function stateOf(findings: readonly SchemaFinding[]): FoundTable['state'] {
  if (findings.some(({ code }) => code === 'missing-table')) return 'missing';
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.some((finding) => !isAddition(finding))) return 'differs';
  return errors.length > 0 ? 'incomplete' : 'exists';
}

function show({ address, name }: SqlDatabase, tables: readonly FoundTable[], isNewFile: boolean): void {
  const where = name === undefined ? '' : `, database ${name}`;
  const width = Math.max(...tables.map(({ definition }) => nameOf(definition).length));
  const words = {
    exists: 'exists',
    missing: 'will be created',
    incomplete: 'lacks columns',
    differs: 'differs',
  };
  const lines = tables.map(
    ({ definition, state }) => `  ${nameOf(definition).padEnd(width)}  ${words[state]}`,
  );
  print(`${address}${where}${isNewFile ? ', a new file' : ''}\n\n${lines.join('\n')}\n\n`);
}

function findingsOf(tables: readonly FoundTable[], severity: SchemaFinding['severity']): SchemaFinding[] {
  return tables.flatMap(({ findings }) => findings.filter((finding) => finding.severity === severity));
}

function nameOf({ path }: TableDefinition): string {
  return path.join('.');
}

function statementsOf(definitions: readonly TableDefinition[], dialect: SqlDialect): string {
  const statements = definitions.flatMap((definition) => createTable(definition, dialect));
  return statements.map((statement) => `${statement};\n`).join('\n');
}
