import assert from 'node:assert/strict';
import { LockStorageError, type JobGuard } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import { nextEvent } from '../../../support/benches/guard';
import { testOnServers, type ServerBench } from '../../../support/benches/server';
import { createRunTables } from '../../../support/databases/run-tables';
import { protocolOf, sqlProxy, type SqlProxy } from '../../../support/faults/sql-proxy/sql-proxy';
import { targetOf, throughProxy } from '../../../support/faults/tcp-proxy';
import { closedAtOnce, electorOf, SLOT } from '../../../support/jobs/coordinators';

/** Four seconds, and a margin for a busy machine. */
const LONGEST_MS = 30_000;

interface Place {
  /** Between the guard and the database. */
  readonly proxy: SqlProxy;
  readonly guard: JobGuard;
  /** Claims the same tick. */
  readonly asks: () => Promise<boolean>;
  /** Claims it on another instance, with a direct connection. */
  readonly otherAsks: () => Promise<boolean>;
  /** The contents of the tick's row, read by the other instance. */
  readonly row: () => Promise<string>;
}

async function placeOn(bench: ServerBench): Promise<Place> {
  await createRunTables(bench.application);
  const proxy = bench.closeAtEnd(await sqlProxy(targetOf(bench.database.url), protocolOf(bench.server)));
  const behind = bench.dataSource({ url: throughProxy(bench.database.url, proxy) });
  const options = { pollInterval: false, logger: false } as const;
  const guard = closedAtOnce(bench, await createJobGuard(behind, options));
  const free = closedAtOnce(bench, await createJobGuard(bench.application, options));
  // The first statement also connects, and checks the tables.
  for (const each of [guard, free]) await electorOf(each, 'warm').asks();
  return {
    proxy,
    guard,
    asks: electorOf(guard).asks,
    otherAsks: electorOf(free).asks,
    row: async () => {
      const run = await free.ledger.get({ job: 'settle', periodKey: SLOT });
      return run === undefined ? 'none' : [run.state, run.reason].filter(Boolean).join(' ');
    },
  };
}

function testFault(name: string, body: (place: Place, bench: ServerBench) => Promise<void>): void {
  testOnServers(name, async (bench) => {
    const place = await placeOn(bench);
    try {
      await body(place, bench);
    } finally {
      place.proxy.flow();
    }
  });
}

/** Rejects within the limit, with a storage error. */
async function failsInTime({ guard, asks }: Place): Promise<void> {
  const failed = nextEvent(guard, 'lock:failed');
  const beganAtMs = performance.now();
  await assert.rejects(asks(), LockStorageError);
  assert.ok(performance.now() - beganAtMs < LONGEST_MS);
  assert.equal((await failed).willRetry, false);
}

testFault(
  'after a lost answer the coordinator reads the row, and elects the instance once',
  async (place) => {
    const swallowed = place.proxy.swallow('claim', 'cut');
    assert.equal(await place.asks(), true);
    await swallowed;
    assert.equal(await place.otherAsks(), false);
    assert.equal(await place.row(), 'running');
  },
);

testFault('a claim that does not arrive is sent again', async (place) => {
  const lost = place.proxy.lose('claim', 'cut');
  assert.equal(await place.asks(), true);
  await lost;
  assert.equal(await place.otherAsks(), false);
});

testFault(
  'an election that a silent claim delays fails in time, and no other instance is elected',
  async (place) => {
    const lost = place.proxy.lose('claim', 'silence');
    const failed = assert.rejects(place.asks(), LockStorageError);
    await lost;
    assert.equal(await place.otherAsks(), false);
    await failed;
  },
);

testFault('while the database cannot be reached nothing runs, and it runs elsewhere', async (place) => {
  await place.proxy.close();
  await failsInTime(place);
  assert.equal(await place.row(), 'none');
  assert.equal(await place.otherAsks(), true);
  await place.proxy.open();
});

testFault('an unconfirmed claim does not stay as running, and its run is given back', async (place) => {
  const skipped = nextEvent(place.guard, 'run:skipped');
  const swallowed = place.proxy.swallow('claim', 'silence').then(() => place.proxy.stall());
  await assert.rejects(place.asks(), LockStorageError);
  await swallowed;
  assert.equal(await place.row(), 'running');
  place.proxy.flow();
  assert.equal((await skipped).reason, 'given-back');
  assert.equal(await place.row(), 'pending');
});
