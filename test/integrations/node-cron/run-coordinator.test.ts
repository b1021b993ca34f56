/** Which instance node-cron's coordinator elects for a tick of a distributed task. */
import assert from 'node:assert/strict';
import { nextEvent } from '../../support/benches/guard';
import { instanceBehind, type Network } from '../../support/faults/out-of-reach';
import { electorOf, SLOT } from '../../support/jobs/coordinators';
import { testLedger } from '../../support/stores/ledger-tests';

testLedger('of eight instances that claim a tick at the same time, one is elected', async (place) => {
  const instances = Array.from({ length: 8 }, () => place.instance());
  const electors = instances.map(({ guard }) => electorOf(guard));
  for (let second = 0; second < 10; second += 1) {
    const at = `2026-11-20T03:00:0${second}.000Z`;
    const answers = await Promise.all(electors.map((each) => each.asks(`settle:${at}`)));
    assert.equal(answers.filter(Boolean).length, 1, at);
    const elected = answers.indexOf(true);
    const { guard } = instances[elected] ?? assert.fail();
    const released = nextEvent(guard, 'lock:released');
    await electors[elected]?.runs(at);
    await released;
  }
  const runs = await instances[0]?.guard.ledger.list({ job: 'settle', states: ['completed'] });
  assert.equal(runs?.length, 10);
});

testLedger(
  'a tick is a run: the task is its job and its lock, the instant its period, and the elected instance its holder',
  async (place) => {
    const { guard } = place.instance();
    assert.equal(await electorOf(guard).asks(), true);
    const run = await guard.ledger.get({ job: 'settle', periodKey: SLOT });
    assert.deepEqual(
      [run?.state, run?.attempt, run?.scope, run?.periodStart?.toISOString()],
      ['running', 1, '', SLOT],
    );
    assert.ok(run?.claimedBy?.includes(`/${process.pid}/`));
    assert.ok(run?.fencingToken);
    assert.equal((await guard.locks.inspect('settle'))?.isHeld, true);
  },
);

testLedger(
  'an instance that claims later is not elected: not after 5 ms, not after 10 s, and not after the job has ended',
  async (place) => {
    const [here, there] = [place.instance(), place.instance()];
    const [first, second] = [electorOf(here.guard), electorOf(there.guard)];
    assert.equal(await first.asks(), true);
    for (const later of ['5ms', '10s'] as const) {
      await place.elapse(later);
      assert.equal(await second.asks(), false, later);
    }
    const released = nextEvent(here.guard, 'lock:released');
    await first.runs();
    await released;
    assert.equal((await there.guard.ledger.last('settle'))?.result, JSON.stringify(SLOT));
    assert.equal(await second.asks(), false);
    assert.equal(there.of('run:skipped').at(-1)?.reason, 'already-completed');
  },
);

testLedger('a tick whose instance has crashed has failed, and the next one runs', async (place) => {
  const network: Network = { isUp: true };
  assert.equal(await electorOf(instanceBehind(network, place).guard).asks(), true);
  network.isUp = false; // It renews its lease no more.
  await place.elapse('61s');
  const { guard } = place.instance();
  const next = electorOf(guard);
  assert.equal(await next.asks('settle:2026-11-20T03:01:01.000Z'), true);
  const released = nextEvent(guard, 'lock:released');
  await next.runs('2026-11-20T03:01:01.000Z');
  await released;
  const states = await guard.ledger.list({ job: 'settle', order: 'oldest-first' });
  assert.deepEqual(
    states.map(({ state, reason }) => [state, reason]),
    [
      ['failed', 'lease-ended'],
      ['completed', undefined],
    ],
  );
});

testLedger('a closing guard is not elected, and leaves the tick to others', async (place) => {
  const closing = place.instance();
  const { asks } = electorOf(closing.guard);
  await closing.guard.close();
  assert.equal(await asks(), false);
  assert.deepEqual(
    closing.of('lock:skipped').map(({ reason }) => reason),
    ['closing'],
  );
  assert.equal(await electorOf(place.instance().guard).asks(), true);
});
