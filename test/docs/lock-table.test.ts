import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { postgres } from '#cronlatch/storage/sql/dialects/postgres';
import { sqlite } from '#cronlatch/storage/sql/dialects/sqlite';
import { createTable } from '#cronlatch/storage/sql/tables/create-table';
import { tableOf } from '#cronlatch/storage/sql/schema/tables';
import { codeBlocksOf, plainSql } from '../support/checks/page';

void test('the tables that it shows are those of the migration', () => {
  const normal = (sql: string): string => plainSql(sql).replace('IF NOT EXISTS ', '');
  const shown = codeBlocksOf('docs/lock-table.md')
    .filter(({ language }) => language === 'sql')
    .map(({ text }) => normal(text));
  const table = tableOf('lock');
  for (const dialect of [mysql, postgres, sqlite]) {
    assert.ok(shown.includes(normal(createTable(table, dialect).join(' '))), dialect.name);
  }
});
