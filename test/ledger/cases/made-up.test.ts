import assert from 'node:assert/strict';
import type { OncePerConfiguration } from 'cronlatch';
import { closeDay, diary, rowsOf } from '../../support/jobs/close-day';
import type { Instance, LedgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

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

const reasons = ({ of }: Instance) => of('run:skipped').map(({ reason }) => reason);

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
        instances.flatMap(({ runs }) => runs.splice(0)).map((run) => [
          run.periodKey,
          run.scheduledAt?.toISOString(),
          run.isCatchUp,
        ]),
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
