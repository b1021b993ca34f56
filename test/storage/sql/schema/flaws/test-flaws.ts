import assert from 'node:assert/strict';
import { SchemaMismatchError } from 'cronlatch';
import { withRunStore } from '../../../../support/benches/run-store';
import { withChangedTable } from '../../../../support/databases/changed-table';
import { testWith, type DatabaseName } from '../../../../support/databases/fresh';
import { lockRows } from '../../../../support/databases/lock-table';
import { LIMIT, RUNNING } from '../../../../support/jobs/runs';
import { hasRemedy, type Flaw, type Variants } from './flaw';
import { MYSQL_FLAWS, MYSQL_VARIANTS } from './mysql';
import { POSTGRES_FLAWS, POSTGRES_VARIANTS } from './postgres';
import { RUN_FLAWS } from './runs';
import { SQLITE_FLAWS, SQLITE_VARIANTS } from './sqlite';

const JOB = { name: 'job', lockAtMostFor: '10m' } as const;

const FLAWS: Readonly<Record<DatabaseName, readonly Flaw[]>> = {
  mysql: MYSQL_FLAWS,
  mariadb: MYSQL_FLAWS,
  postgres: POSTGRES_FLAWS,
  sqlite: SQLITE_FLAWS,
};

const VARIANTS: Readonly<Record<DatabaseName, Variants>> = {
  mysql: MYSQL_VARIANTS,
  mariadb: MYSQL_VARIANTS,
  postgres: POSTGRES_VARIANTS,
  sqlite: SQLITE_VARIANTS,
};

/** Each flaw of a lock table is found and fixed, and each variant of it works. */
export function testFlaws(server: DatabaseName): void {
  for (const each of FLAWS[server]) {
    const [flaw, code, expected, changes] = each;
    const severity = ['no-fencing-token', 'inexact-names'].includes(code) ? 'warning' : 'error';
    testWith(server, `${flaw}: ${code} (F-64)`, async (database) => {
      await withChangedTable(database, [changes].flat(), {}, async ({ dataSource, provider, warnings }) => {
        const findings = await provider.verifySchema();
        assert.deepEqual(
          findings.map((finding) => [finding.severity, finding.code]),
          [[severity, code]],
        );
        const [{ message = '', remedy = undefined } = {}] = findings;
        assert.match(message, /^Table 'shedlock' in (MySQL at|MariaDB at|PostgreSQL at|SQLite) /);
        assert.match(message, expected);

        if (severity === 'error') {
          await assert.rejects(
            provider.lock(JOB),
            (error) => error instanceof SchemaMismatchError && error.message === message,
          );
          assert.deepEqual(warnings, []);
        } else {
          await provider.check();
          assert.equal(await (await provider.lock(JOB))?.unlock(), true);
          assert.deepEqual(warnings, [message]);
        }

        assert.equal(remedy !== undefined, hasRemedy(each));
        if (remedy === undefined) return;
        assert.ok(message.endsWith(`. Run: ${remedy};`));
        await dataSource.query(remedy);
        assert.deepEqual(await provider.verifySchema(), []);
        assert.equal(await (await provider.lock(JOB))?.unlock(), true);
      });
    });
  }

  for (const [variant, changes] of Object.entries(VARIANTS[server])) {
    testWith(server, `${variant} causes no finding, and locks work`, async (database) => {
      await withChangedTable(database, [changes].flat(), {}, async ({ dataSource, provider }) => {
        assert.deepEqual(await provider.verifySchema(), []);
        const lock = await provider.lock(JOB);
        assert.ok(lock?.fencingToken);
        assert.equal(await provider.lock(JOB), undefined);
        assert.equal(await lock.extend('20m'), true);
        assert.equal(await lock.unlock(), true);
        const next = await provider.lock(JOB);
        assert.ok((next?.fencingToken ?? 0) > lock.fencingToken);
        assert.deepEqual(
          (await lockRows(dataSource)).map(({ name, held }) => [name, held]),
          [['job', true]],
        );
      });
    });
  }
}

/** Each flaw of a table of the ledger is found and fixed. */
export function testRunFlaws(server: DatabaseName): void {
  for (const each of RUN_FLAWS[server]) {
    const [flaw, code, expected, changes] = each;
    testWith(server, `runs: ${flaw}: ${code}`, (database) =>
      withRunStore(database, { changes: [changes].flat() }, async ({ store, application }) => {
        const findings = await store.verifySchema();
        assert.deepEqual(
          findings.map((finding) => [finding.severity, finding.code]),
          [['error', code]],
        );
        const [{ message = '', remedy = undefined } = {}] = findings;
        assert.match(message, expected);
        await assert.rejects(store.check(), { code: 'CRONLATCH_SCHEMA_MISMATCH', message });
        await assert.rejects(store.insert(RUNNING, LIMIT), { message, outcome: 'nothing-ran' });
        assert.equal(remedy !== undefined, hasRemedy(each));
        if (remedy === undefined) return;
        await application.query(remedy);
        assert.deepEqual(await store.verifySchema(), []);
        assert.equal(await store.insert(RUNNING, LIMIT), true);
      }),
    );
  }
}
