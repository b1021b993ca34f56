import assert from 'node:assert/strict';
import { createJobGuard, createTables } from 'cronlatch/mysql2';
import { operations } from 'cronlatch/operations';
import { createConnection } from 'mysql2/promise';
import { closing } from '../../support/benches/closing';
import { testOnOwn } from '../../support/databases/fresh';
import { BY, purge } from '../../support/jobs/acts';
import { ownServer } from '../../support/servers/own';

for (const server of ['mysql', 'mariadb'] as const)
  testOnOwn(server, 'a server that refuses deletions without a key still purges runs and locks', async () => {
    await using own = closing(await ownServer(server));
    await using root = closing(await createConnection({ uri: own.url }));
    await root.query('CREATE DATABASE app');
    await root.query('SET GLOBAL sql_safe_updates = 1');
    const url = `${own.url}/app`;
    await createTables(url);
    await using guard = closing(
      await createJobGuard(url, { keepRows: false, pollInterval: false, logger: false }),
    );
    const oncePer = { period: 'day', timeZone: 'UTC' } as const;
    for (const at of [new Date('2026-01-05T12:00:00Z'), new Date('2026-01-06T12:00:00Z')])
      await guard.run({ name: 'close-day', lockAtMostFor: '1m', oncePer, at }, () => {});
    // This session began before the setting.
    await root.query(
      `UPDATE app.cronlatch_run SET finished_at = '2026-01-05', updated_at = '2026-01-05', created_at = '2026-01-05'`,
    );
    await root.query(
      `INSERT INTO app.shedlock (name, lock_until, locked_at, locked_by) VALUES ('old', '2026-01-05', '2026-01-05', 'web-1')`,
    );
    await purge(guard, '30d');
    await operations(guard).purge({ olderThan: '1d', locks: true, ...BY });
    const [runs] = await root.query('SELECT period_key FROM app.cronlatch_run');
    const [locks] = await root.query(`SELECT name FROM app.shedlock WHERE name <> 'cronlatch-place'`);
    // The newest run is kept.
    assert.deepEqual([runs, locks], [[{ period_key: '2026-01-06' }], []]);
  });
