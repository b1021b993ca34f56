import assert from 'node:assert/strict';
import { SchemaMismatchError, type JobGuard } from 'cronlatch';
import { createJobGuard, createTables, RowLockProvider } from 'cronlatch/mysql2';
import { createConnection } from 'mysql2/promise';
import { closing } from '../../support/benches/closing';
import { codesOf, examinedAll } from '../../support/benches/doctor';
import { JOB } from '../../support/benches/transaction';
import { testOnOwn } from '../../support/databases/fresh';
import { ownServer } from '../../support/servers/own';

const QUIET = { pollInterval: false, logger: false } as const;

async function runs(guard: JobGuard): Promise<void> {
  try {
    await guard.run(JOB, () => {});
    assert.equal((await guard.ledger.last(JOB.name))?.state, 'completed');
  } finally {
    await guard.close();
  }
}

for (const server of ['mysql', 'mariadb'] as const)
  testOnOwn(
    server,
    'a server that logs statements is refused at READ COMMITTED, and doctor has the fix',
    async () => {
      await using own = closing(await ownServer(server, ['--log-bin=log', '--binlog-format=STATEMENT']));
      await using root = closing(await createConnection({ uri: own.url }));
      await root.query('CREATE DATABASE app');
      const url = `${own.url}/app`;
      await createTables(url);
      await createTables(url, { tables: ['row-lock'] });
      await using rowLocks = closing(new RowLockProvider(url));
      const job = { name: 'job', lockAtMostFor: '1m' } as const;
      const starts = [() => createJobGuard(url, QUIET), () => rowLocks.lock(job)];
      for (const start of starts)
        await assert.rejects(start, (error) => {
          assert.ok(error instanceof SchemaMismatchError, String(error));
          assert.match(
            error.message,
            /^Table '.* cannot be written at READ COMMITTED, because binlog_format/,
          );
          return true;
        });
      const options = { type: server, url } as const;
      const { findings } = await examinedAll(options);
      const errors = findings.filter(({ severity, code }) => severity === 'error' && code !== 'not-durable');
      assert.deepEqual([...new Set(codesOf(errors))], ['error statement-log']);
      await root.query(errors[0]?.statement ?? '');
      await runs(await createJobGuard(url, QUIET));
      const left = codesOf((await examinedAll(options)).findings);
      assert.ok(!left.includes('error statement-log'), left.join());
    },
  );
