import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DataSource } from 'typeorm';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { tableOf } from '#cronlatch/storage/sql/schema/tables';
import { quoteLockTable } from '#cronlatch/storage/sql/dialects/sql-dialect';
import { closing } from '../support/benches/closing';
import { codeBlocksOf, plainSql } from '../support/checks/page';
import { testOnEvery, type TestDatabase } from '../support/databases/fresh';
import { migratedDataSource } from '../support/databases/lock-table';

const PAGE = 'docs/how-the-lock-works.md';
const JOB = { name: 'close-day', lockAtMostFor: '1m' } as const;

/** The statements on the page. The comment above each names its databases and, after a colon, its parameters. */
const statements = codeBlocksOf(PAGE)
  .filter(({ language }) => language === 'sql')
  .map(({ text }) => {
    const [, databases, parameters] = /^-- ([^:\n]+)(?:: (.+))?\n/.exec(text) ?? [];
    return {
      databases: databases?.split(', '),
      parameters: parameters?.split(', ') ?? [],
      text: plainSql(text),
    };
  });

const LABELS: Readonly<Record<string, string>> = {
  mysql: 'MySQL',
  mariadb: 'MariaDB',
  postgres: 'PostgreSQL',
  'better-sqlite3': 'SQLite',
};

/** The statements for one database: compare the token, inspect the table, free a lock. */
function statementsFor({ options }: TestDatabase): typeof statements {
  return statements.filter(({ databases }) => databases?.includes(LABELS[options.type] ?? ''));
}

interface Place {
  readonly dataSource: DataSource;
  readonly provider: TypeOrmLockProvider;
}

/** The lock table in a database, and a provider of locks in it. */
async function withPlace(database: TestDatabase, body: (place: Place) => Promise<void>): Promise<void> {
  await using dataSource = closing(await migratedDataSource(database));
  await using provider = closing(new TypeOrmLockProvider(dataSource));
  await body({ dataSource, provider });
}

type Statement = (typeof statements)[number];

async function showsWhoHoldsWhat({ dataSource, provider }: Place, { text: look }: Statement): Promise<void> {
  await (await provider.lock({ ...JOB, name: 'a-free' }))?.unlock();
  await provider.lock({ ...JOB, name: 'b-held' });
  await (await provider.lock({ ...JOB, name: 'c-kept', lockAtLeastFor: '30s' }))?.unlock();
  const rows = await dataSource.query<{ name: string; state: string }[]>(look);
  assert.deepEqual(
    rows.map(({ name, state }) => [name, state]),
    [
      ['a-free', 'free'],
      ['b-held', 'held'],
      ['c-kept', 'kept'],
    ],
  );
}

async function freesOneHolder({ dataSource, provider }: Place, { text: free }: Statement): Promise<void> {
  const lock = await provider.lock(JOB);
  await dataSource.query(free);
  assert.equal(await provider.lock(JOB), undefined, 'another owner is named: nothing is freed');
  const [row] = await dataSource.query<{ locked_by: string }[]>(
    `SELECT locked_by FROM shedlock WHERE name <> 'cronlatch-place'`,
  );
  await lock?.extend('1m'); // It changes the number behind the owner.
  await dataSource.query(free.replace('web-2/803/c1…', row?.locked_by ?? ''));
  assert.ok(await provider.lock(JOB), 'free at once');
  assert.equal(await lock?.extend('1m'), false, 'the holder before finds out');
}

async function refusesLateHolder(
  { dataSource, provider }: Place,
  { text: save, parameters }: Statement,
): Promise<void> {
  await dataSource.query(
    'CREATE TABLE day_totals (day VARCHAR(10) PRIMARY KEY, total INT NOT NULL, fencing_token BIGINT NOT NULL)',
  );
  await dataSource.query(`INSERT INTO day_totals (day, total, fencing_token) VALUES ('2026-11-21', 0, 0)`);
  const saved = async (total: number, token: number | undefined): Promise<number> => {
    const values: Record<string, unknown> = {
      'the new total': total,
      'the token': token,
      'the day': '2026-11-21',
    };
    await dataSource.query(
      save,
      parameters.map((parameter) => values[parameter]),
    );
    const rows = await dataSource.query<{ total: number }[]>('SELECT total FROM day_totals');
    return Number(rows[0]?.total);
  };
  const late = await provider.lock(JOB);
  await late?.unlock();
  const next = await provider.lock(JOB);
  assert.equal(await saved(1, late?.fencingToken), 1);
  assert.equal(await saved(2, next?.fencingToken), 2);
  assert.equal(await saved(3, next?.fencingToken), 3, 'one run may write again');
  assert.equal(await saved(4, late?.fencingToken), 3, 'one that is late writes nothing');
}

void test('every statement on the page is tested', () => {
  const unlabelled = statements.filter(({ databases }) => databases === undefined);
  assert.equal(unlabelled.length, 2);
  const labels = statements.flatMap(({ databases }) => databases ?? []);
  const thrice = Object.values(LABELS).flatMap((label) => [label, label, label]);
  assert.deepEqual(labels.sort(), thrice.sort());
});

void test('the statements of the lock are those that are sent', () => {
  const shape = {
    now: 'UTC_TIMESTAMP(6)',
    clockStepMs: 0,
    hasToken: true,
    comparesBytes: true,
    insertReturnsToken: true,
  };
  const { takeOver, unlock } = mysql.lockTexts(quoteLockTable(tableOf('lock'), mysql), shape);
  const shown = statements.filter(({ databases }) => databases === undefined).map(({ text }) => text);
  assert.deepEqual(shown, [takeOver, unlock].map(plainSql));
});

/** In the order of the statements on the page. */
const TESTS = {
  'the fencing token keeps a late holder from writing': refusesLateHolder,
  'the query shows whether a lock is free, held or kept': showsWhoHoldsWhat,
  'the lock of one owner is freed by hand': freesOneHolder,
};

for (const [position, [name, body]] of Object.entries(TESTS).entries()) {
  testOnEvery(name, async (database) => {
    const statement = statementsFor(database)[position];
    assert.ok(statement);
    await withPlace(database, (place) => body(place, statement));
  });
}
