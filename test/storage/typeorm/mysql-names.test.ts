import assert from 'node:assert/strict';
import type { LockConfiguration } from 'cronlatch';
import { testOnServer } from '../../support/benches/server';
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
}
