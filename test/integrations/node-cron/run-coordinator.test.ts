import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotConfiguredError } from 'cronlatch';
import { LedgerRunCoordinator } from 'cronlatch/node-cron';
import { guardBench, nextEvent, reasonOf } from '../../support/benches/guard';
import { instanceBehind, type Network } from '../../support/faults/out-of-reach';
import { elector, KEY, PretendedTask, SLOT } from '../../support/jobs/coordinators';
import { dayJob } from '../../support/jobs/day-job';
import { memoryStores, ledgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

testLedger('of eight instances that claim a tick at the same time, one is elected', async (place) => {
  const electors = Array.from({ length: 8 }, () => elector(place));
  const tasks = electors.map(({ coordinator }) => new PretendedTask('settle', coordinator));
  for (let second = 0; second < 10; second += 1) {
    const at = `2026-11-20T03:00:0${second}.000Z`;
    const answers = await Promise.all(electors.map((each) => each.asks(`settle:${at}`)));
    assert.equal(answers.filter(Boolean).length, 1, at);
    const [elected, task] = [electors[answers.indexOf(true)], tasks[answers.indexOf(true)]];
    assert.ok(elected && task);
    const released = nextEvent(elected.guard, 'lock:released');
    task.begin(at);
    task.end(at, { result: second });
    await released;
  }
  const [{ guard }] = electors as [(typeof electors)[0]];
  const runs = await guard.ledger.list({ job: 'settle', states: ['completed'] });
  assert.equal(runs.length, 10);
});

testLedger(
  'a tick is a run: the task is its job and its lock, the instant its period, and the elected instance its holder',
  async (place) => {
    const { guard, asks } = elector(place);
    assert.equal(await asks(), true);
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
    const [first, second] = [elector(place), elector(place)];
    const task = new PretendedTask('settle', first.coordinator);
    assert.equal(await first.asks(), true);
    for (const later of ['5ms', '10s'] as const) {
      await place.elapse(later);
      assert.equal(await second.asks(), false, later);
    }
    const released = nextEvent(first.guard, 'lock:released');
    task.begin(SLOT);
    task.end(SLOT, { result: 'settled' });
    await released;
    assert.equal((await second.guard.ledger.last('settle'))?.result, '"settled"');
    assert.equal(await second.asks(), false);
    assert.equal(second.of('run:skipped').at(-1)?.reason, 'already-completed');
  },
);

testLedger('a task’s name may contain colons, and may be a prefix of another name', async (place) => {
  const { guard, asks } = elector(place);
  for (const name of ['a', 'a:b', `a:${SLOT}`]) assert.equal(await asks(`${name}:${SLOT}`), true);
  const jobs = (await guard.ledger.list({ periodKey: SLOT })).map(({ job }) => job);
  assert.deepEqual(jobs.sort(), ['a', `a:${SLOT}`, 'a:b'].sort());
});

testLedger('a tick whose instance has crashed has failed, and the next one runs', async (place) => {
  const network: Network = { isUp: true };
  const dead = new LedgerRunCoordinator({ guard: instanceBehind(network, place).guard });
  assert.equal(await dead.shouldRun(KEY), true);
  network.isUp = false; // It renews its lease no more.
  await place.elapse('61s');
  const next = elector(place);
  assert.equal(await next.asks('settle:2026-11-20T03:01:01.000Z'), true);
  const task = new PretendedTask('settle', next.coordinator);
  const released = nextEvent(next.guard, 'lock:released');
  task.begin('2026-11-20T03:01:01.000Z');
  task.end('2026-11-20T03:01:01.000Z', { result: undefined });
  await released;
  const states = await next.guard.ledger.list({ job: 'settle', order: 'oldest-first' });
  assert.deepEqual(
    states.map(({ state, reason }) => [state, reason]),
    [
      ['failed', 'lease-ended'],
      ['completed', undefined],
    ],
  );
});

testLedger('a closing guard is not elected, and leaves the tick to others', async (place) => {
  const [closing, other] = [elector(place), elector(place)];
  await closing.guard.close();
  assert.equal(await closing.asks(), false);
  assert.deepEqual(
    closing.of('lock:skipped').map(({ reason }) => reason),
    ['closing'],
  );
  assert.equal(await other.asks(), true);
});

const REFUSED: [string, string, RegExp][] = [
  ['settle', 'InvalidLockUseError', /^"settle" is not a node-cron run key/],
  [`settle${SLOT}`, 'InvalidLockUseError', /is not a node-cron run key/],
  ['settle:2026-11-20T03:00:00.000+', 'InvalidLockUseError', /is not a node-cron run key/],
  [`:${SLOT}`, 'InvalidLockConfigurationError', /^"" cannot be/],
  [`${'x'.repeat(65)}:${SLOT}`, 'InvalidLockConfigurationError', /65 characters, more than 64/],
];

for (const [key, name, message] of REFUSED) {
  void test(`the key '${key}' is rejected`, async () => {
    const { place, close } = ledgerPlace(memoryStores(SLOT));
    await assert.rejects(elector(place).asks(key), { name, message });
    await close();
  });
}

void test('a once-per job cannot be a distributed task as well', async () => {
  const { place, close } = ledgerPlace(memoryStores(SLOT));
  const { guard, asks } = elector(place);
  guard.wrap(dayJob(), () => {});
  await assert.rejects(asks(`close-day:${SLOT}`), {
    name: 'InvalidLockUseError',
    message: /has the name of a once-per job/,
  });
  await close();
});

void test('a coordinator needs a guard, and that guard needs a ledger', async () => {
  assert.throws(() => new LedgerRunCoordinator(), NotConfiguredError);
  const { guard } = guardBench();
  assert.throws(() => new LedgerRunCoordinator({ guard }), {
    name: 'InvalidLockConfigurationError',
    message: /^Distributed tasks need a ledger, but this guard has only locks/,
  });
  await guard.close();
  assert.match(
    String(await reasonOf(Promise.resolve().then(() => new LedgerRunCoordinator({ guard })))),
    /closed/,
  );
});
