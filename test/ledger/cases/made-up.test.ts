import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { currentRun, LockStorageError, type OncePerConfiguration } from 'cronlatch';
import { eventually } from '../../support/clocks/eventually';
import { SkewedClock } from '../../support/clocks/skewed-clock';
import { BY } from '../../support/jobs/acts';
import { closeDay, diary, failing, NO_BANK, rowsOf } from '../../support/jobs/close-day';
import type { Instance, LedgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';
import { operations } from 'cronlatch/operations';

const AT_FIVE = { expression: '0 5 * * *', timeZone: 'Europe/Paris', dialect: 'croner' } as const;

/** Schedules the job in a new process, which registers it. */
async function scheduled(
  place: LedgerPlace,
  expression: string,
  oncePer: Partial<OncePerConfiguration> = {},
  options: Parameters<LedgerPlace['instance']>[0] = {},
) {
  const instance = place.instance(options);
  const { task, runs } = diary();
  const schedule = { expression, timeZone: 'Europe/Paris', dialect: 'croner' } as const;
  const call = instance.guard.wrap(closeDay(oncePer), task, {
    schedule,
    scheduledAt: () => new Date(place.clock.wallMs()),
  });
  await instance.guard.runOverdue();
  const check = async (): Promise<string[]> => {
    await instance.guard.runOverdue();
    return runs.splice(0).map((run) => `${run.periodKey} at ${run.scheduledAt?.toISOString()}`);
  };
  return { instance, runs, call, check };
}

const reasons = (instance: Instance) => instance.of('run:skipped').map(({ reason }) => reason);

for (const [period, expression, after, key, at] of [
  ['day', '0 5 * * *', '70m', '2026-11-20', '2026-11-20T04:00:00.000Z'],
  ['hour', '30 * * * *', '50m', '2026-11-20T04+0100', '2026-11-20T03:30:00.000Z'],
  ['week', '0 5 * * 6', '50h', '2026-W47', '2026-11-21T04:00:00.000Z'],
  ['month', '0 5 21 * *', '60h', '2026-11', '2026-11-21T04:00:00.000Z'],
  ['tick', '0 5 * * *', '20h', '2026-11-20T04:00:00.000Z', '2026-11-20T04:00:00.000Z'],
] as const)
  testLedger(
    `a tick that falls into a restart is made up in its ${period}, once (S-01, S-02)`,
    async (place) => {
      const before = await scheduled(place, expression, { period });
      assert.deepEqual(await before.check(), []);
      await before.instance.guard.close({ timeout: 0 });
      await place.elapse(after);
      const instances = [
        await scheduled(place, expression, { period }),
        await scheduled(place, expression, { period }),
      ];
      assert.deepEqual(
        instances
          .flatMap(({ runs }) => runs.splice(0))
          .map((run) => [run.periodKey, run.scheduledAt?.toISOString(), run.isCatchUp]),
        [[key, at, false]],
      );
      const started = instances.flatMap(({ instance }) => instance.of('run:started'));
      assert.deepEqual(
        started.map(({ madeUp, scheduledAt }) => [madeUp, scheduledAt?.toISOString()]),
        [[true, at]],
      );
      for (const { check } of instances) assert.deepEqual(await check(), []);
      assert.deepEqual(await rowsOf(before.instance), [`${key} completed(made-up)`]);
    },
  );

testLedger('a new job waits for its first tick (S-03)', async (place) => {
  const { instance, check } = await scheduled(place, '0 3 * * *');
  await place.elapse('2h');
  assert.deepEqual(await check(), []);
  assert.deepEqual(await rowsOf(instance), []);
  await place.elapse('22h');
  assert.deepEqual(await check(), ['2026-11-21 at 2026-11-21T02:00:00.000Z']);
});

testLedger('a deployment that moves the tick starts nothing (S-04)', async (place) => {
  const before = await scheduled(place, '0 22 * * *');
  await place.elapse('8h');
  const earlier = await scheduled(place, '0 3 * * *');
  assert.deepEqual(await earlier.check(), []);
  const later = await scheduled(place, '0 22 * * *');
  assert.deepEqual(await later.check(), []);
  await place.elapse('10h');
  assert.deepEqual(await later.call(), 'done');
  assert.deepEqual(await rowsOf(before.instance), ['2026-11-20 completed']);
});

testLedger('past its start deadline, a period is recorded as skipped, once (S-05)', async (place) => {
  const before = await scheduled(place, '0 5 * * *', { startDeadline: '2h' });
  await before.instance.guard.close({ timeout: 0 });
  await place.elapse('6h');
  const [one, other] = [
    await scheduled(place, '0 5 * * *', { startDeadline: '2h' }),
    await scheduled(place, '0 5 * * *', { startDeadline: '2h' }),
  ];
  for (const { check } of [one, other]) assert.deepEqual(await check(), []);
  assert.deepEqual(await rowsOf(one.instance), ['2026-11-20 skipped(deadline)']);
  assert.deepEqual([reasons(one.instance), reasons(other.instance)], [['deadline'], []]);
});

for (const catchUp of ['none', 'latest'] as const)
  testLedger(
    `after the end of its period, a tick is missed, with catchUp '${catchUp}' (S-06)`,
    async (place) => {
      const before = await scheduled(place, '0 5 * * *', { catchUp });
      await before.instance.guard.close({ timeout: 0 });
      await place.elapse('21h'); // Saturday, one o'clock in Paris
      const { instance, runs } = await scheduled(place, '0 5 * * *', { catchUp });
      const periods = runs.map(({ periodKey, isCatchUp }) => [periodKey, isCatchUp]);
      assert.deepEqual(periods, catchUp === 'none' ? [] : [['2026-11-20', true]]);
      const gaps = await instance.guard.ledger.gaps('close-day');
      assert.deepEqual(
        gaps.map(({ key }) => key),
        catchUp === 'none' ? ['2026-11-20'] : [],
      );
    },
  );

for (const [period, expression, after, key] of [
  ['day', '0 5 * * *', '70m', '2026-11-19'],
  ['week', '0 5 * * 6', '50h', '2026-W46'],
  ['month', '0 5 21 * *', '60h', '2026-10'],
] as const)
  testLedger(`a tick that is made up counts for the ${period} before, and once (S-10)`, async (place) => {
    const options = { period, target: 'previous' } as const;
    await scheduled(place, expression, options);
    await place.elapse(after);
    const { runs, check, instance } = await scheduled(place, expression, options);
    assert.deepEqual(
      runs.splice(0).map(({ periodKey }) => periodKey),
      [key],
    );
    assert.deepEqual(await check(), []);
    assert.deepEqual(await rowsOf(instance), [`${key} completed(made-up)`]);
  });

const CLOCKS_CHANGE = { now: '2027-03-27T12:00:00Z' };
for (const expression of ['30 2 * * *', '*/15 2 * * *', '0,30 2 * * *'])
  testLedger(
    `a day whose ticks '${expression}' the clocks skip is made up at the change (S-12)`,
    async (place) => {
      await scheduled(place, expression);
      await place.elapse('14h'); // 04:00 in Paris, on the day of the change
      const { instance } = await scheduled(place, expression);
      const [run] = instance.of('run:started');
      assert.deepEqual(run?.scheduledAt, new Date('2027-03-28T01:00:00Z'));
      assert.deepEqual(await rowsOf(instance), ['2027-03-28 completed(made-up)']);
    },
    CLOCKS_CHANGE,
  );

testLedger(
  'the repeated hour of a clock change is a period of its own, and made up (S-12)',
  async (place) => {
    const { call, instance } = await scheduled(place, '15 * * * *', { period: 'hour' });
    await place.elapse('45m'); // 02:15 for the first time
    await call();
    await place.elapse('65m'); // 02:20 for the second time
    await instance.guard.runOverdue();
    assert.deepEqual(await rowsOf(instance), [
      '2027-10-31T02+0200 completed',
      '2027-10-31T02+0100 completed(made-up)',
    ]);
  },
  { now: '2027-10-30T23:30:00Z' },
);

testLedger('eight instances that start at once make one run up (S-17)', async (place) => {
  const { instance } = await scheduled(place, '0 5 * * *');
  await place.elapse('2h');
  const all = await Promise.all(Array.from({ length: 8 }, () => scheduled(place, '0 5 * * *')));
  assert.equal(all.flatMap(({ runs }) => runs).length, 1);
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed(made-up)']);
});

const LOCK = { lock: 'close-day' };
testLedger('a pause over the tick is made up at its end, and not after the period (S-18)', async (place) => {
  const { instance, check, call } = await scheduled(place, '0 5 * * *');
  const operator = operations(instance.guard);
  await operator.pause(LOCK, { ...BY, until: '48h' });
  await place.elapse('1h');
  assert.equal(await call(), undefined);
  // Another process: it has no tick that it could retry.
  const other = await scheduled(place, '0 5 * * *');
  await place.elapse('3h');
  assert.deepEqual(await other.check(), []);
  await operator.resume(LOCK, BY);
  assert.deepEqual(await other.check(), ['2026-11-20 at 2026-11-20T04:00:00.000Z']);
  await place.elapse('20h');
  await operator.pause(LOCK, { ...BY, until: '48h' });
  await place.elapse('24h');
  await operator.resume(LOCK, BY);
  for (const each of [check, other.check]) assert.deepEqual(await each(), []);
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed(made-up)']);
});

testLedger(
  'during a rolling deployment, an instance of the old schedule makes nothing up (S-19)',
  async (place) => {
    const old = await scheduled(place, '0 5 * * *');
    const current = await scheduled(place, '0 6 * * *', {}, { instanceName: 'new' });
    const made: string[] = [];
    // Until 06:10. At 05:30, the tick of the old schedule has passed.
    for (let minutes = 0; minutes < 130; minutes += 10) {
      await place.elapse('10m');
      assert.deepEqual(await old.check(), []);
      made.push(...(await current.check()));
    }
    assert.deepEqual(made, ['2026-11-20 at 2026-11-20T05:00:00.000Z']);
    const warnings = current.instance.of('guard:warning').map(({ message }) => message);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /^Job 'close-day' is declared differently than by /);
  },
);

for (const skew of ['10m', '-10m'])
  testLedger(
    `with a host's clock that is wrong by ${skew}, nothing is made up early or twice (S-20)`,
    async (place) => {
      const clock = new SkewedClock(place.clock);
      clock.skewMs = skew === '10m' ? 600_000 : -600_000;
      const { check, instance } = await scheduled(place, '0 5 * * *', {}, { clock });
      await place.elapse('55m');
      assert.deepEqual(await check(), []);
      await place.elapse('17m');
      assert.deepEqual(await check(), ['2026-11-20 at 2026-11-20T04:00:00.000Z']);
      for (const _ of [1, 2, 3]) {
        await place.elapse('10m');
        assert.deepEqual(await check(), []);
      }
      assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed(made-up)']);
    },
  );

testLedger(
  'a job that was disabled over its ticks is not made up, and neither late nor has it missed a date (S-28)',
  async (place) => {
    const off = place.instance();
    const job = { ...closeDay(), enabled: false };
    off.guard.wrap(job, () => assert.fail('ran'), { schedule: AT_FIVE });
    await off.guard.runOverdue();
    await place.elapse('50h');
    assert.deepEqual(await off.guard.runOverdue(), { started: 0, overdue: 0 });
    const { instance, check } = await scheduled(place, '0 5 * * *');
    assert.deepEqual(await check(), []);
    const { jobs } = await operations(instance.guard).overview();
    assert.deepEqual(
      jobs.flatMap(({ problems }) => problems),
      [],
    );
  },
);

/** A job at five, with a scope for each tenant that it is called with. */
const ofTenants = ({ guard }: Instance, work: (tenant: string) => void) =>
  guard.wrap(closeDay({ scope: (tenant: string) => tenant, resume: ({ scope }) => [scope] }), work, {
    schedule: AT_FIVE,
  });

testLedger(
  'a tick is made up for the scopes of the newest recorded period, with the arguments of resume',
  async (place) => {
    const ran: string[] = [];
    const work = (tenant: string): void => void ran.push(`${tenant} ${currentRun().periodKey}`);
    const before = place.instance();
    const call = ofTenants(before, work);
    await place.elapse('1h');
    await before.guard.runOverdue();
    for (const tenant of ['a', 'gone']) await call(tenant);
    await place.elapse('24h');
    for (const tenant of ['a', 'b']) await call(tenant);
    await place.elapse('25h');
    ran.splice(0);
    const after = place.instance();
    ofTenants(after, work);
    await after.guard.runOverdue();
    await after.guard.runOverdue();
    assert.deepEqual(ran.sort(), ['a 2026-11-22', 'b 2026-11-22']);
  },
);

testLedger('a tick is made up for all scopes, also if one of them has failed', async (place) => {
  const ran: string[] = [];
  let fails = false;
  const work = (tenant: string): void => {
    if (fails && tenant === 'b') throw NO_BANK;
    ran.push(tenant);
  };
  const before = place.instance();
  const call = ofTenants(before, work);
  await before.guard.runOverdue();
  await place.elapse('1h');
  for (const tenant of ['a', 'b', 'c']) await call(tenant);
  await before.guard.close({ timeout: 0 });
  await place.elapse('25h');
  ran.splice(0);
  // Its process has made up only one of the scopes.
  const after = place.instance();
  const run = { job: 'close-day', scope: 'a', periodKey: '2026-11-21', timeZone: 'Europe/Paris' };
  const [periodStart, periodEnd] = [new Date('2026-11-20T23:00:00Z'), new Date('2026-11-21T23:00:00Z')];
  const row = { ...run, periodStart, periodEnd, state: 'skipped', reason: 'made-up' } as const;
  await after.store.insert(row, { timeoutMs: 5000 });
  fails = true;
  ofTenants(after, work);
  await after.guard.runOverdue();
  assert.deepEqual(ran, ['c']);
  fails = false;
  await place.elapse('10m');
  await after.guard.runOverdue();
  assert.deepEqual(ran, ['c', 'b']);
});

const noAnswer = () => Promise.reject(new LockStorageError('no answer'));

testLedger('a read that fails once does not lose the tick', async (place) => {
  await scheduled(place, '0 5 * * *');
  await place.elapse('2h');
  const instance = place.instance();
  const { task, periods } = diary();
  instance.guard.wrap(closeDay(), task, { schedule: AT_FIVE });
  const { store } = instance;
  for (const method of ['since', 'overdue'] as const) {
    const away = mock.method(store, method, noAnswer);
    await assert.rejects(instance.guard.runOverdue(), LockStorageError);
    away.mock.restore();
  }
  assert.deepEqual(periods(), []);
  await instance.guard.runOverdue();
  assert.deepEqual(periods(), ['2026-11-20']);
});

testLedger('a register that does not answer keeps no run from being retried', async (place) => {
  const { instance, runs } = await scheduled(place, '0 5 * * *');
  const { store } = instance;
  const { task, periods } = failing(1);
  await instance.guard.wrap({ ...closeDay(), name: 'fails' }, task)();
  mock.method(store, 'jobs', noAnswer);
  await place.elapse('2h');
  await assert.rejects(instance.guard.runOverdue(), LockStorageError);
  await eventually(() => periods().length === 2, 'its run is retried');
  assert.deepEqual(runs, []);
});

testLedger('a host whose clock is behind makes up every tick', async (place) => {
  const clock = new SkewedClock(place.clock);
  clock.skewMs = -600_000;
  const { check } = await scheduled(place, '*/10 * * * *', { period: 'tick' }, { clock });
  const made: string[] = [];
  for (let minutes = 0; minutes < 60; minutes += 1) {
    await place.elapse('1m');
    made.push(...(await check()));
  }
  assert.equal(made.length, 5);
});

testLedger('a key function that fails keeps no other job from being made up', async (place) => {
  const instance = place.instance();
  const { guard } = instance;
  const period = (): string => {
    throw new Error('no key');
  };
  guard.wrap({ ...closeDay({ period }), name: 'broken' }, () => assert.fail('ran'), { schedule: AT_FIVE });
  const { task, periods } = diary();
  guard.wrap(closeDay(), task, { schedule: AT_FIVE });
  await guard.runOverdue();
  await place.elapse('2h');
  for (const _ of [1, 2]) await guard.runOverdue();
  assert.deepEqual(periods(), ['2026-11-20']);
  const failures = instance.of('lock:failed').map(({ name, madeUp }) => [name, madeUp]);
  assert.deepEqual(failures, [['broken', true]]);
});

testLedger('a tick that waits for a retry does not keep the next one from being made up', async (place) => {
  const { instance, call, check } = await scheduled(place, '0 * * * *', { period: 'hour' });
  await operations(instance.guard).pause(LOCK, { ...BY, until: '100m' });
  await place.elapse('1h');
  await call();
  await place.elapse('70m'); // The tick at six never came.
  for (const _ of [1, 2, 3]) await check();
  assert.deepEqual(await rowsOf(instance), ['2026-11-20T06+0100 completed(made-up)']);
});

testLedger(
  'a holiday is recorded once, and a calendar that fails is asked at the next check (S-26)',
  async (place) => {
    const asked: string[] = [];
    const answers: (boolean | Error)[] = [new Error('no network'), false];
    const calendar = {
      isBusinessDay: (date: string): boolean => {
        asked.push(date);
        const answer = answers.shift();
        if (typeof answer !== 'boolean') throw answer ?? new Error('asked too often');
        return answer;
      },
    };
    const { instance, check } = await scheduled(place, '0 5 * * *', { calendar });
    await place.elapse('2h');
    for (const _ of [1, 2, 3, 4]) assert.deepEqual(await check(), []);
    assert.deepEqual(asked, ['2026-11-20', '2026-11-20']);
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 skipped(calendar)']);
  },
);

testLedger('a month whose tick comes on a holiday waits for its next tick', async (place) => {
  const calendar = { isBusinessDay: (date: string): boolean => date === '2026-11-23' };
  const options = { period: 'month', calendar } as const;
  const { check, instance } = await scheduled(place, '0 5 21-23 * *', options);
  await place.elapse('26h'); // Saturday the 21st, 06:00
  assert.deepEqual(await check(), []);
  assert.deepEqual(await rowsOf(instance), []);
  await place.elapse('48h');
  assert.deepEqual(await check(), ['2026-11 at 2026-11-23T04:00:00.000Z']);
});

testLedger('the period of a key function is made up until the next scheduled time', async (place) => {
  const period = (at: Date): string => `batch ${at.toISOString().slice(0, 13)}`;
  await scheduled(place, '0 */6 * * *', { period });
  await place.elapse('3h'); // 07:00 in Paris
  const { runs, check, instance } = await scheduled(place, '0 */6 * * *', { period });
  assert.equal(runs.splice(0).length, 1);
  assert.deepEqual(await check(), []);
  assert.deepEqual(await rowsOf(instance), ['batch 2026-11-20T05 completed(made-up)']);
});

testLedger("a tick that found the lock held is answered, and not made up with 'tick'", async (place) => {
  const { instance, call, check } = await scheduled(place, '0 5 * * *', { period: 'tick' });
  await operations(instance.guard).pause(LOCK, { ...BY, until: '4000s' });
  await place.elapse('1h');
  await call();
  await place.elapse('2h');
  assert.deepEqual(await check(), []);
  const other = await scheduled(place, '0 5 * * *', { period: 'tick' });
  assert.deepEqual(await other.check(), []);
  assert.deepEqual(await rowsOf(instance), []);
});

testLedger('a run that fails when it is made up is retried like any other', async (place) => {
  await scheduled(place, '0 5 * * *');
  await place.elapse('2h');
  const instance = place.instance();
  const { task, runs } = failing(1);
  instance.guard.wrap(closeDay(), task, { schedule: AT_FIVE });
  await instance.guard.runOverdue();
  await place.elapse('10m');
  await instance.guard.runOverdue();
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed(made-up)']);
  const scheduledAt = runs.map((run) => run.scheduledAt);
  assert.deepEqual(scheduledAt, [new Date('2026-11-20T04:00:00Z'), undefined]);
});
