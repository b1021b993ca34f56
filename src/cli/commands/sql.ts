import { Option, type Command } from 'commander';
import { tableDefinitions } from '../../integrations/sql/tables';
import { mysql } from '../../storage/sql/dialects/mysql';
import { postgres } from '../../storage/sql/dialects/postgres';
import type { SqlDialect } from '../../storage/sql/dialects/sql-dialect';
import { sqlite } from '../../storage/sql/dialects/sqlite';
import { createTable } from '../../storage/sql/schema/create-table';
import type { TableDefinition } from '../../storage/sql/schema/table-definition';
import { addTableOptions, type TableNameOptions } from '../options';
import { print } from '../terminal';

const DIALECTS = { mysql, mariadb: mysql, postgres, sqlite };

interface SqlOptions extends TableNameOptions {
  readonly dialect: keyof typeof DIALECTS;
}

/** `cronlatch sql`: prints the statements, without a connection. */
export function addSqlCommand(program: Command): void {
  const dialect = new Option('--dialect <name>', 'kind of database').choices(Object.keys(DIALECTS));
  addTableOptions(
    program
      .command('sql')
      .description('print the SQL statements that create the tables')
      .addOption(dialect.makeOptionMandatory()),
  ).action(({ dialect: name, ...named }: SqlOptions) =>
    print(statementsOf(tableDefinitions({}, named), DIALECTS[name])),
  );
}

/** Text that a client of the database can execute. */
export function statementsOf(definitions: readonly TableDefinition[], dialect: SqlDialect): string {
  const statements = definitions.flatMap((definition) => createTable(definition, dialect));
  return statements.map((statement) => `${statement};\n`).join('\n');
}
