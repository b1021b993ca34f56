import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { testOnServers } from '../../../support/benches/server';
import { sampleSize } from '../../../support/checks/sample-size';
import { lockRows } from '../../../support/databases/lock-table';
import { LockLoad } from '../../../support/jobs/lock-load';

const BLOWS = sampleSize({ fast: 60, full: 1500 });
const INSTANCES = 4;
const LONGEST_PAUSE_MS = 20;

testOnServers(
  `locks match the results that instances received after ${BLOWS} random kills of a session or its statement (F-50)`,
  async (bench) => {
    await bench.application.destroy();
    const instances = Array.from({ length: INSTANCES }, () => bench.provider({ statementTimeout: '5s' }));
    const load = new LockLoad(instances);
    let blows = 0;
    try {
      while (blows < BLOWS) {
        await load.granted(1);
        await setTimeout(Math.random() * LONGEST_PAUSE_MS);
        const hasHit = await bench.stranger.strikeOne(blows % 2 === 0 ? 'kill' : 'cancel');
        if (hasHit) blows += 1;
      }
    } finally {
      await load.end();
    }
    assert.ok(load.counts.released > 0, JSON.stringify(load.counts));
    load.agreesWith(await lockRows(await bench.connected()));
  },
);
