import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DataSource } from 'typeorm';
import { LockStorageError } from 'cronlatch';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { closing } from '../../../support/benches/closing';
import { testRunStores } from '../../../support/benches/run-store';
import { CLAIM, LIMIT, RUNNING } from '../../../support/jobs/runs';
import { testWith, type DatabaseName, type TestDatabase } from '../../../support/databases/fresh';
import { migratedDataSource } from '../../../support/databases/lock-table';
import { TRICKY_NAMES, TRIED_NAMES } from '../../../storage/sql/schema/flaws/tricky-names';

/** The name columns to test: the statements that create each, by the name in the test. */
const COLUMNS: Readonly<Record<DatabaseName, Readonly<Record<string, readonly string[]>>>> = {
  mysql: collations('utf8mb4_bin', 'utf8mb4_0900_bin', 'utf8mb4_0900_ai_ci'),
  mariadb: collations('utf8mb4_bin', 'utf8mb4_nopad_bin', 'utf8mb4_unicode_520_nopad_ci'),
  postgres: {
    C: [],
    citext: ['CREATE EXTENSION citext', 'ALTER TABLE shedlock ALTER COLUMN name TYPE citext'],
    'a collation that folds': [
      `CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`,
      'ALTER TABLE shedlock ALTER COLUMN name TYPE text COLLATE folding',
    ],
  },
  sqlite: {
    BINARY: [],
    NOCASE: [
      'ALTER TABLE shedlock RENAME TO away',
      'CREATE TABLE shedlock (name TEXT COLLATE NOCASE PRIMARY KEY, lock_until INT, locked_at INT, locked_by TEXT, fencing_token INT)',
    ],
  },
};

const EXACT = new Set(['utf8mb4_bin', 'utf8mb4_0900_bin', 'utf8mb4_nopad_bin', 'C', 'BINARY']);

function collations(...special: string[]): Record<string, readonly string[]> {
  const inAll = [
    'utf8mb4_general_ci',
    'utf8mb4_turkish_ci',
    'utf8mb3_bin',
    'latin1_swedish_ci',
    'latin1_bin',
  ];
  return Object.fromEntries(
    [...special, ...inAll].map((collation) => [
      collation,
      [
        `ALTER TABLE shedlock MODIFY name VARCHAR(64) CHARACTER SET ${collation.split('_')[0]} COLLATE ${collation} NOT NULL`,
      ],
    ]),
  );
}

/**
 * Asks for every name, while all earlier names are held, or all are free: each gets its own row, or an error.
 */
async function lockEveryName(dataSource: DataSource, provider: TypeOrmLockProvider): Promise<string[]> {
  const granted: string[] = [];
  let before = await owners(dataSource);
  for (const name of TRIED_NAMES) {
    try {
      const lock = await provider.lock({ name, lockAtMostFor: '10m' });
      assert.ok(lock, `'${name}' was confused with another lock`);
      granted.push(name);
    } catch (error) {
      assert.ok(error instanceof LockStorageError, String(error));
      assert.equal(error.outcome, 'nothing-ran');
      assert.ok(error.message.includes(`'${name}'`), error.message);
    }
    const after = await owners(dataSource);
    const changed = [...after].filter(([row, owner]) => before.get(row) !== owner).map(([row]) => row);
    assert.deepEqual(changed, granted.at(-1) === name ? [name] : []);
    before = after;
  }
  return granted;
}

async function owners(dataSource: DataSource): Promise<Map<string, string>> {
  const rows = await dataSource.query<{ name: string; locked_by: string }[]>(
    `SELECT name, locked_by FROM shedlock WHERE name <> 'cronlatch-place'`,
  );
  return new Map(rows.map(({ name, locked_by: owner }) => [name, owner]));
}

async function grantEveryName(database: TestDatabase, changes: readonly string[]): Promise<string[]> {
  await using dataSource = closing(await migratedDataSource(database));
  for (const change of changes) await dataSource.query(change);
  const onWarning = (): void => {};
  await using first = closing(new TypeOrmLockProvider(dataSource, { onWarning }));
  await using second = closing(new TypeOrmLockProvider(dataSource, { onWarning }));
  const granted = await lockEveryName(dataSource, first);
  await dataSource.query('UPDATE shedlock SET lock_until = locked_at');
  assert.deepEqual(await lockEveryName(dataSource, second), granted, 'when all were free');
  return granted;
}

void test('the more than 200 tricky names are all different (F-65)', () => {
  assert.ok(TRICKY_NAMES.length > 200);
  assert.equal(new Set(TRICKY_NAMES.map((name) => name.normalize())).size, TRICKY_NAMES.length);
});

for (const [server, columns] of Object.entries(COLUMNS) as [DatabaseName, (typeof COLUMNS)[DatabaseName]][]) {
  for (const [column, changes] of Object.entries(columns)) {
    testWith(server, `no name is confused with another (${column}) (P1, F-65)`, async (database) => {
      const granted = await grantEveryName(database, changes);
      if (EXACT.has(column)) assert.deepEqual(granted, TRIED_NAMES);
      else
        assert.ok(
          (granted.includes('job') && !granted.includes('Job')) || /_bin$/.test(column),
          granted.join(),
        );
    });
  }
}

testRunStores(
  'a space at the end makes another name or an error, never the other name’s run',
  async (bench) => {
    const { store, application } = bench;
    await store.insert(RUNNING, LIMIT);
    const spaced = { ...RUNNING, job: `${RUNNING.job} ` };
    assert.equal(await store.change(spaced, (found) => ({ value: found }), LIMIT), undefined);
    assert.deepEqual((await store.peek({ ...spaced, since: undefined }, LIMIT)).runs, []);
    assert.equal(await store.complete({ ...CLAIM, job: spaced.job }, undefined, LIMIT), false);
    // To the collation that MySQL and MariaDB have in common, the two are equal.
    const isFolded = ['mysql', 'mariadb'].includes(application.options.type);
    const inserted = store.insert(spaced, LIMIT);
    if (isFolded)
      await assert.rejects(inserted, { code: 'CRONLATCH_SCHEMA_MISMATCH', outcome: 'nothing-ran' });
    else assert.equal(await inserted, true);
  },
);
