import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { OwnServerBench } from '../../support/benches/own-server';
import { testOnOwn } from '../../support/databases/fresh';
import { lockRows } from '../../support/databases/lock-table';

const JOB = { name: 'job', lockAtMostFor: '10m' } as const;

for (const server of ['mysql', 'mariadb'] as const) {
  testOnOwn(
    server,
    'on a server that switches off autocommit for all sessions, a lock is committed (F-48)',
    async () => {
      const bench = await OwnServerBench.on(server);
      // init_connect does not apply to it.
      const administrator = await bench.administrator();
      await administrator.query(`SET GLOBAL init_connect = 'SET autocommit = 0'`);
      const application = await new DataSource(bench.application.options).initialize();
      const provider = new TypeOrmLockProvider(application);
      try {
        const [settings] = await application.query<{ off: unknown }[]>('SELECT @@autocommit = 0 AS off');
        assert.equal(Number(settings?.off), 1);
        const lock = await provider.lock(JOB);
        assert.deepEqual(
          await administrator.query(`SELECT name FROM app.shedlock WHERE name <> 'cronlatch-place'`),
          [{ name: 'job' }],
        );
        assert.equal(await lock?.unlock(), true);
        const rows = await lockRows(bench.application);
        assert.deepEqual(
          rows.map(({ held }) => held),
          [false],
        );
      } finally {
        await administrator.destroy();
        await provider.close();
        await application.destroy();
        await bench.dispose();
      }
    },
  );
}
