import assert from 'node:assert/strict';
import type { LockConfiguration } from 'cronlatch';
import { ServerBench, testOnServer } from '../../support/benches/server';
import { testOn } from '../../support/databases/fresh';
import { lockRows } from '../../support/databases/lock-table';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

for (const server of ['mysql', 'mariadb'] as const) {
  for (const [place, options] of Object.entries({
    'the DataSource': { charset: 'LATIN1_SWEDISH_CI' },
    "the driver's own options": { extra: { charset: 'latin1_swedish_ci' } },
  })) {
    testOnServer(
      server,
      `names are compared byte for byte, with any character set of ${place} (F-65, F-75)`,
      async (bench) => {
        const application = await bench.connected(options);
        const [provider, other] = [bench.provider({}, application), bench.provider()];
        const names = ['ř-job', 'š-job', '日-job', 'баланс'];
        for (const name of names) {
          assert.ok(await provider.lock({ ...JOB, name }), name);
          assert.equal(await other.lock({ ...JOB, name }), undefined, name);
        }
        assert.deepEqual((await lockRows(bench.application)).map(({ name }) => name).sort(), names.sort());
      },
    );
  }

  testOn(
    server,
    'a name that is too long for the column is an error, never a truncated lock (F-66)',
    async () => {
      const bench = await ServerBench.on(server);
      const provider = bench.provider({ nameLength: 255 });
      await assert.rejects(provider.lock({ ...JOB, name: 'x'.repeat(65) }), {
        code: 'CRONLATCH_SCHEMA_MISMATCH',
        message: /a column 'name' with room for 64 characters, but nameLength is 255\. /,
      });
      assert.deepEqual(await lockRows(bench.application), []);
      await bench.dispose();
    },
  );
}
