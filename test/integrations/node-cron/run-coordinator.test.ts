import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotConfiguredError } from 'cronlatch';
import { LedgerRunCoordinator } from 'cronlatch/node-cron';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { guardBench, reasonOf } from '../../support/benches/guard';
import { elector, KEY, LEASE_MS, SLOT } from '../../support/jobs/coordinators';
import { dayJob } from '../../support/jobs/day-job';
import { memoryStores, ledgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

testLedger('of eight instances that claim a tick at the same time, one is elected', async (place) => {
  const electors = Array.from({ length: 8 }, () => elector(place));
  for (let second = 0; second < 10; second += 1) {
    const key = `settle:2026-11-20T03:00:0${second}.000Z`;
    const answers = await Promise.all(electors.map((each) => each.asks(key)));
    assert.equal(answers.filter(Boolean).length, 1, key);
  }
  const [{ guard }] = electors as [(typeof electors)[0]];
  assert.equal((await guard.ledger.list({ job: 'settle' })).length, 10);
  assert.equal(electors.flatMap((each) => each.of('run:skipped')).length, 70);
});

testLedger(
  'a tick is a row: the task is its job, the instant its period, and the elected instance its holder',
  async (place) => {
    const { guard, asks } = elector(place);
    assert.equal(await asks(), true);
    const run = await guard.ledger.get({ job: 'settle', periodKey: SLOT });
    assert.ok(run?.leaseUntil && run.startedAt);
    assert.deepEqual(
      [run.state, run.attempt, run.scope, run.lockId, run.periodStart],
      ['running', 1, '', 'node-cron', undefined],
    );
    assert.ok(run.claimedBy?.includes(`/${process.pid}/`));
    assert.equal(run.leaseUntil.getTime() - run.startedAt.getTime(), LEASE_MS);
  },
);

testLedger(
  'an instance that claims later is not elected: not after 5 ms, not after 10 s, and not after the job has ended',
  async (place) => {
    const [first, second] = [elector(place), elector(place)];
    assert.equal(await first.asks(), true);
    for (const later of ['5ms', '10s', '1h'] as const) {
      await place.elapse(later);
      assert.equal(await second.asks(), false, later);
    }
    callsOf(first.guard).slots.completed({ job: 'settle', at: new Date(SLOT) }, 'settled');
    await first.guard.close();
    assert.equal((await second.guard.ledger.last('settle'))?.result, '"settled"');
    assert.equal(await second.asks(), false);
    assert.deepEqual(
      second.of('run:skipped').map(({ reason, scheduledAt }) => [reason, scheduledAt?.toISOString()]),
      Array(4).fill(['running-elsewhere', SLOT]),
    );
  },
);

testLedger('a task’s name may contain colons, and may be a prefix of another name', async (place) => {
  const { guard, asks } = elector(place);
  for (const name of ['a', 'a:b', `a:${SLOT}`]) assert.equal(await asks(`${name}:${SLOT}`), true);
  const jobs = (await guard.ledger.list({ periodKey: SLOT })).map(({ job }) => job);
  assert.deepEqual(jobs.sort(), ['a', `a:${SLOT}`, 'a:b'].sort());
});

testLedger(
  'a run that has not ended when its lease expires is shown as interrupted, and does not run again',
  async (place) => {
    const [dead, next] = [elector(place), elector(place)];
    assert.equal(await dead.asks(), true);
    await place.elapse('30s');
    assert.equal(await next.asks('settle:2026-11-20T03:00:30.000Z'), true);
    await place.elapse('61s');
    const interrupted = new Promise<void>((resolve) => next.guard.on('run:interrupted', () => resolve()));
    assert.equal(await next.asks('settle:2026-11-20T03:01:31.000Z'), true);
    await interrupted;
    const states = await next.guard.ledger.list({ job: 'settle', order: 'oldest-first' });
    assert.deepEqual(
      states.map(({ state, reason }) => [state, reason]),
      [
        ['interrupted', 'crashed'],
        ['running', undefined], // Its own tick, about which it knows more than the lease.
        ['running', undefined],
      ],
    );
    const [event] = next.of('run:interrupted');
    assert.equal(event?.run?.periodKey, SLOT);
    assert.equal(await next.asks(), false);
    const resolved = { as: 'completed', actor: 'Ada', reason: 'the bank has it' } as const;
    await next.guard.ledger.resolve({ job: 'settle', periodKey: SLOT }, resolved);
  },
);

testLedger('a run that outlives its lease is completed late', async (place) => {
  const [slow, next] = [elector(place), elector(place)];
  assert.equal(await slow.asks(), true);
  await place.elapse('2m');
  const interrupted = new Promise<void>((resolve) => next.guard.on('run:interrupted', () => resolve()));
  assert.equal(await next.asks('settle:2026-11-20T03:02:00.000Z'), true);
  await interrupted;
  callsOf(slow.guard).slots.completed({ job: 'settle', at: new Date(SLOT) }, undefined);
  await slow.guard.close();
  assert.equal((await next.guard.ledger.get({ job: 'settle', periodKey: SLOT }))?.state, 'completed');
});

testLedger('a tick that has ended cannot be rerun, because no instance would run it', async (place) => {
  const [dead, { guard, asks }] = [elector(place), elector(place)];
  const run = { job: 'settle', periodKey: SLOT };
  const act = { actor: 'Ada', reason: 'the bank has not got it' };
  assert.equal(await dead.asks(), true);
  await place.elapse('2m');
  const interrupted = new Promise<void>((resolve) => guard.on('run:interrupted', () => resolve()));
  assert.equal(await asks('settle:2026-11-20T03:02:00.000Z'), true);
  await interrupted;
  const message =
    /Cannot .*: it is interrupted\. It is a tick of a distributed task: no instance would run it again/;
  await assert.rejects(guard.ledger.rerun(run, act), { name: 'InvalidLockUseError', message });
  await assert.rejects(guard.ledger.resolve(run, { ...act, as: 'pending' }), message);
  await guard.ledger.resolve(run, { ...act, as: 'failed' });
  assert.equal((await guard.ledger.get(run))?.state, 'failed');
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
  [`:${SLOT}`, 'InvalidLockConfigurationError', /^"" cannot be the name of a distributed task/],
  [`${'x'.repeat(65)}:${SLOT}`, 'InvalidLockConfigurationError', /65 characters, more than 64/],
];

for (const [key, name, message] of REFUSED) {
  void test(`the key '${key}' is rejected`, async () => {
    const { place, close } = ledgerPlace(memoryStores(SLOT));
    await assert.rejects(elector(place).asks(key), { name, message });
    await close();
  });
}

for (const lease of [0, -1, NaN]) {
  void test(`a lease of ${lease} is rejected`, async () => {
    const { place, close } = ledgerPlace(memoryStores(SLOT));
    await assert.rejects(elector(place).coordinator.shouldRun(KEY, lease), {
      name: 'InvalidLockConfigurationError',
      message: /^the lease of task 'settle' is/i,
    });
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
