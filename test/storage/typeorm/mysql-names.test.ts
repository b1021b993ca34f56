import assert from 'node:assert/strict';
import type { LockConfiguration } from 'cronlatch';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { testOn } from '../../support/databases';
import { lockRows } from '../../support/lock-table';
import { ServerBench } from '../../support/server-bench';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

for (const server of ['mysql', 'mariadb'] as const) {
  testOn(
    server,
    'F-65 names are compared byte for byte, whatever the character set of the application',
    async () => {
      const bench = await ServerBench.on(server);
      const application = await bench.connected({ charset: 'LATIN1_SWEDISH_CI' });
      const provider = bench.provider({}, application);
      for (const name of ['ř-job', 'š-job', '日-job']) assert.ok(await provider.lock({ ...JOB, name }), name);
      assert.throws(
        () => new TypeOrmLockProvider(application, { connections: 'shared' }),
        /needs the charset utf8mb4/,
      );
      await bench.dispose();
    },
  );

  testOn(
    server,
    'F-66 a name that the column is too short for is an error, never a truncated lock',
    async () => {
      const bench = await ServerBench.on(server);
      const provider = bench.provider({ nameLength: 255 });
      await assert.rejects(provider.lock({ ...JOB, name: 'x'.repeat(65) }), {
        code: 'CRONLATCH_SCHEMA_MISMATCH',
        message: /a column 'name' for 64 characters, but nameLength is 255: /,
      });
      assert.deepEqual(await lockRows(bench.application), []);
      await bench.dispose();
    },
  );
}
