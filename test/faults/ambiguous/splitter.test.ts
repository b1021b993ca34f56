import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { JobConfiguration, LockConfiguration } from 'cronlatch';
import { closing } from '../../support/benches/closing';
import { JOB } from '../../support/benches/transaction';
import { throughProxy } from '../../support/faults/tcp-proxy';
import { testAmbiguous, type AmbiguousBench } from './ambiguous-bench';
import { LOCK_SAMPLES } from './lock-samples';
import { RUN_SAMPLES } from './run-samples';
import { REPLICAS, splitter } from './splitter';
import { trySamples } from './try-samples';

const COLUMNS_OF = {
  mysql: (table: string) => `LIKE ${table}`,
  mariadb: (table: string) => `LIKE ${table}`,
  postgres: (table: string) => `(LIKE ${table} INCLUDING ALL)`,
};

/** One test for each server, connected through a splitter. */
function testSplit(
  name: string,
  body: (bench: AmbiguousBench, url: string, t: TestContext) => Promise<void>,
): void {
  testAmbiguous(`if plain reads go to a replica that lags behind, ${name} (F-36)`, async (bench, t) => {
    for (const [table, replica] of Object.entries(REPLICAS))
      await bench.operator.query(`CREATE TABLE ${replica} ${COLUMNS_OF[bench.server](table)}`);
    await using proxy = closing(await splitter(bench.database.url));
    await body(bench, throughProxy(bench.database.url, proxy), t);
    assert.ok(proxy.diverted > 0);
  });
}

testSplit('the primary decides after a lost reply', async (bench, url, t) => {
  await trySamples(bench, t, [...LOCK_SAMPLES, ...RUN_SAMPLES], { times: 3, lost: 'reply', url });
});

const LOCK: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

testSplit('a held lock stays held, whether the replica has it or not', async (bench, url) => {
  const [holder, other] = [await bench.process({ url }), await bench.process({ url })];
  const lock = await holder.provider.lock(LOCK);
  assert.equal(await other.provider.lock(LOCK), undefined);
  assert.equal(await other.provider.lock(LOCK), undefined, 'its name is known');
  assert.equal(await lock?.unlock(), true);
  assert.ok(await other.provider.lock(LOCK));
});

const DAILY: JobConfiguration = { ...JOB, name: 'close-day' };

testSplit('a completed run stays completed, whether the replica has it or not', async (bench, url) => {
  const { guard } = await bench.process({ url });
  assert.deepEqual(await guard.run(DAILY, () => 1), { executed: true, value: 1 });
  assert.deepEqual(await guard.run(DAILY, () => 2), { executed: false, reason: 'already-completed' });
});
