import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryRunsFixture } from '../support/stores/run-fixtures';
import { runStoreContract } from '../support/run-store-contract';

const LACKS = { ambientTransaction: 'it has no transactions', staleReads: 'it has no replicas' } as const;

void test('each case has a distinct name that ends with a promise or a situation of the ledger', () => {
  const names = runStoreContract(memoryRunsFixture, { lacks: LACKS }).map(({ name }) => name);
  assert.ok(names.length > 60);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /\S \(L([1-7]|-\d\d)(, [FL]-?\d+)*\)$/);
});

void test('only cases that need a missing capability are skipped, with the reason, and they reject if they are run', async () => {
  const contract = runStoreContract(memoryRunsFixture, { lacks: LACKS });
  const skipped = contract.filter(({ skip }) => skip !== undefined);
  assert.ok(skipped.length > 0);
  for (const { name, skip, run } of skipped) {
    const [reason, lack] = name.startsWith('with stale reads')
      ? ['it has no replicas', 'staleReads']
      : ['it has no transactions', 'ambientTransaction'];
    assert.match(name, lack === 'staleReads' ? /F-36\)$/ : /\(L-11\)$/);
    assert.equal(skip, `${lack}: ${reason}`);
    await assert.rejects(run(), new RegExp(reason));
  }
});
