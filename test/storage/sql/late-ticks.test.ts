/** One tick on two instances, one of which waits for a connection. */
import assert from 'node:assert/strict';
import type { JobGuard } from 'cronlatch';
import { createJobGuard, type CreateJobGuardOptions } from 'cronlatch/typeorm';
import { nextEvent } from '../../support/benches/guard';
import { namesOf } from '../../support/benches/grouping';
import { testOnServers, type ServerBench } from '../../support/benches/server';
import { eventually } from '../../support/clocks/eventually';

const JOB = { name: 'send-invoices', lockAtMostFor: '10m', lockAtLeastFor: '1s' } as const;

/** A single connection for statements like these, and four more while statements wait for rows. */
const BUSY = namesOf(5);

async function guardOn(bench: ServerBench, options: CreateJobGuardOptions = {}): Promise<JobGuard> {
  const quiet = { logger: false, pollInterval: false } as const;
  return bench.closeAtEnd(await createJobGuard(bench.dataSource(), { ...quiet, ...options }));
}

testOnServers(
  'a tick that waits for one of the own connections until its lock is free again does not run a second time (P4)',
  async (bench) => {
    const waiting = await guardOn(bench, { grouping: false, statementTimeout: '60s' });
    for (const name of [JOB.name, ...BUSY]) await waiting.run({ ...JOB, name, lockAtLeastFor: 0 }, () => {});
    await bench.stranger.lockRow(...BUSY);
    const busy = Promise.allSettled(BUSY.map((name) => waiting.run({ ...JOB, name }, () => {})));
    await eventually(
      async () => (await bench.stranger.countWaitingSessions()) === BUSY.length,
      'all connections are used',
    );
    const ran: string[] = [];
    const other = await guardOn(bench);
    const failed = nextEvent(waiting, 'lock:failed');
    const tick = waiting.run(JOB, () => void ran.push('waiting'));
    tick.catch(() => {}); // The event reports it.
    await other.run(JOB, () => void ran.push('other'));
    await eventually(async () => (await other.locks.inspect(JOB.name))?.isHeld === false, 'the lock is free');
    await bench.stranger.commit();
    const { error } = await Promise.race([failed, tick.then(() => ({ error: 'it ran' }))]);
    assert.match(
      String(error),
      /Lock 'send-invoices' was granted too late: after \d+ ms, longer than its lockAtLeastFor of 1000 ms\./,
    );
    assert.deepEqual(ran, ['other']);
    await busy;
  },
);
