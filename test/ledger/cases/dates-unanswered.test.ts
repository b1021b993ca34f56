import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { LockStorageError } from 'cronlatch';
import type { Clock } from 'cronlatch/provider';
import { closeDay, diary, rowsOf } from '../../support/jobs/close-day';
import type { Instance, LedgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A host whose wall clock is wrong, or which is suspended: its monotonic clock stands still meanwhile. */
class Host implements Clock {
  aheadMs = 0;
  #suspendedMs = 0;

  constructor(private readonly place: LedgerPlace) {}

  async suspend(hours: number): Promise<void> {
    this.#suspendedMs += hours * HOUR_MS;
    await this.place.elapse(hours * HOUR_MS);
  }

  monotonicMs(): number {
    return this.place.clock.monotonicMs() - this.#suspendedMs;
  }

  wallMs(): number {
    return this.place.clock.wallMs() + this.aheadMs;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    return this.place.clock.schedule(delayMs, callback);
  }
}

/** Calls while the store of the runs cannot be reached. */
async function whileStoreIsDown({ store }: Instance, call: () => Promise<unknown>): Promise<void> {
  const away = mock.method(store, 'peek', () => Promise.reject(new LockStorageError('no answer')));
  await call();
  away.mock.restore();
}

/** A registered job on a host, whose scheduler may know the time of a tick. */
function scheduledOn(place: LedgerPlace, knows: boolean) {
  const host = new Host(place);
  const instance = place.instance({ clock: host });
  const { task, periods } = diary();
  const scheduledAt = (): Date | undefined => (knows ? new Date(host.wallMs()) : undefined);
  return { host, instance, periods, job: instance.guard.wrap(closeDay(), task, { scheduledAt }) };
}

for (const [what, knows] of [
  ['whose scheduled time is known', true],
  ['whose scheduled time is not known', false],
] as const) {
  testLedger(
    `an unanswered tick ${what}, received while the clock was a day ahead, counts for the real day after the clock is fixed`,
    async (place) => {
      const { host, instance, periods, job } = scheduledOn(place, knows);
      host.aheadMs = DAY_MS;
      await whileStoreIsDown(instance, job);
      await place.elapse('1m');
      host.aheadMs = 0;
      await place.elapse('1m');
      assert.deepEqual(await instance.guard.runOverdue(), { started: 1, overdue: 0 });
      assert.deepEqual(periods(), ['2026-11-20']);
    },
  );

  testLedger(
    `an unanswered tick ${what}, kept while its host was suspended over midnight, does not run for the next day`,
    async (place) => {
      const { host, instance, periods, job } = scheduledOn(place, knows);
      await whileStoreIsDown(instance, job);
      await host.suspend(23);
      await instance.guard.runOverdue();
      assert.deepEqual([periods(), await rowsOf(instance)], [[], []]);
      assert.match(
        instance.of('guard:warning').at(-1)?.message ?? '',
        /could not run before its period 2026-11-20 ended.*missed/,
      );
    },
  );
}

testLedger(
  'an unanswered tick that a wrong clock put on the next day does not replace the tick of that day',
  async (place) => {
    const { host, instance, periods, job } = scheduledOn(place, false);
    host.aheadMs = DAY_MS;
    await whileStoreIsDown(instance, job);
    host.aheadMs = 0;
    await place.elapse('1d');
    await whileStoreIsDown(instance, job);
    await instance.guard.runOverdue();
    assert.deepEqual(periods(), ['2026-11-21']);
  },
);
