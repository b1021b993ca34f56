import assert from 'node:assert/strict';
import { testOnServers } from '../../../support/benches/server';
import { shiftBack } from '../../../support/databases/lock-table';
import { race } from '../../../support/jobs/race';

const ROUNDS = 200;

testOnServers(
  'of 16 callers on the connections of four processes one gets a new lock, and one an expired lock, 200 times (P1, P3)',
  async (bench) => {
    const providers = Array.from({ length: 4 }, () => bench.provider());
    for (const provider of providers) await provider.check();
    const askers = Array.from({ length: 4 }, () => providers).flat();
    let lastToken = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const [, expired] = await Promise.all([race(askers, `new-${round}`), race(askers, 'expired')]);
      const { fencingToken = 0 } = expired;
      assert.ok(fencingToken > lastToken);
      lastToken = fencingToken;
      await shiftBack(bench.application, 120_000);
    }
  },
);
