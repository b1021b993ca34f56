import assert from 'node:assert/strict';
import { currentRun } from 'cronlatch';
import { StorageBasedLockProvider } from 'cronlatch/provider';
import { reasonOf, runningJob } from '../../support/benches/guard';
import { eventually } from '../../support/clocks/eventually';
import { instanceBehind, type Network } from '../../support/faults/out-of-reach';
import { dayJob, FIRST_DAY, SECOND_DAY } from '../../support/jobs/day-job';
import type { Instance, LedgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';
import { InMemoryStorageAccessor } from '#cronlatch/storage/memory/in-memory-lock-provider';

const EVERY_MINUTE = { pollInterval: '1m' } as const;

/** A job that only its scheduler calls, once a day. */
function daily({ guard }: Instance): { tick: () => Promise<unknown>; effects: string[] } {
  const effects: string[] = [];
  const tick = guard.wrap(dayJob(), async () => {
    const last = await guard.ledger.last('close-day');
    effects.push(last?.periodKey ?? '');
  });
  return { tick, effects };
}

/** Lets a minute pass, with all its timers. */
async function minute(
  place: LedgerPlace,
  isDone: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  await place.elapse('1m');
  await eventually(isDone, what);
}

/** Locks whose tokens begin at one. */
class SmallTokens extends InMemoryStorageAccessor {
  #counter = 0;

  override async insertRecord(...args: Parameters<InMemoryStorageAccessor['insertRecord']>) {
    return this.#counted(await super.insertRecord(...args));
  }

  override async updateRecord(...args: Parameters<InMemoryStorageAccessor['updateRecord']>) {
    return this.#counted(await super.updateRecord(...args));
  }

  #counted<A>(answer: A): A {
    return typeof answer === 'object' ? { ...answer, fencingToken: (this.#counter += 1) } : answer;
  }
}

testLedger(
  'under a renamed lock a crashed run is completed after its lease has expired, and a live run is not doubled (L-60)',
  async (place) => {
    const { guard } = place.instance();
    const renamed = dayJob({ name: 'close-day' }, { name: 'close-day-2' });
    const job = await runningJob(
      place.instance().guard,
      dayJob({}, { keepAlive: true, maxLockDuration: '90s' }),
    );
    const answer = await guard.run(renamed, () => assert.fail('ran'));
    assert.deepEqual(answer, { executed: false, reason: 'running-elsewhere' });
    // The lease lasts 90 s.
    await place.elapse('91s');
    assert.deepEqual(await guard.run(renamed, () => 'again'), { executed: true, value: 'again' });
    const run = await guard.ledger.get(FIRST_DAY);
    assert.deepEqual([run?.state, run?.attempt], ['completed', 2]);
    job.finish();
    await reasonOf(job.result);
  },
);

const OTHERS: [string, (id: string | undefined) => string | undefined][] = [
  ['under another provider, with smaller tokens', () => 'another place'],
  ['after the lock table and its counter were lost', (id) => id],
];

for (const [what, idOf] of OTHERS) {
  testLedger(`${what}, a live run is not doubled, and a crashed run is completed (L-60)`, async (place) => {
    const { clock } = place;
    const holder = place.instance();
    const crashed = await runningJob(holder.guard, dayJob());
    const id = idOf(holder.lockProvider.id);
    const lockProvider = new StorageBasedLockProvider(new SmallTokens(clock), { clock, id });
    const instance = place.instance({ lockProvider });
    const { guard } = instance;
    const job = guard.wrap(dayJob(), () => 'again');
    assert.equal(await job(), undefined);
    assert.equal(instance.of('run:skipped').at(-1)?.reason, 'running-elsewhere');
    // The lease in the run's row lasts a minute, independently of the lock.
    await place.elapse('61s');
    assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
    const run = await guard.ledger.get(FIRST_DAY);
    assert.deepEqual([run?.state, run?.attempt, run?.result], ['completed', 2, '"again"']);
    crashed.finish();
    await reasonOf(crashed.result);
  });
}

testLedger(
  'the database is down at the day’s only tick: the day is completed within a minute after it is back (L-61)',
  async (place) => {
    const network = { isUp: true, refused: [] as string[] };
    const instance = instanceBehind(network, place, EVERY_MINUTE);
    const { tick, effects } = daily(instance);
    network.isUp = false;
    assert.equal(await tick(), undefined);
    const [failed] = instance.of('lock:failed');
    assert.equal(failed?.willRetry, true);
    for (let minutes = 1; minutes <= 3; minutes += 1) {
      const reads = (): number => network.refused.filter((method) => method === 'overdue').length;
      await minute(place, () => reads() === minutes, 'cronlatch tried in vain to read the overdue runs');
    }
    const warnings = instance.of('guard:warning').filter(({ message }) => message.includes('overdue runs'));
    assert.equal(warnings.length, 1, 'one warning until it works again');
    network.isUp = true;
    // Not before its lock is released: pending statements end within a minute.
    await minute(place, () => instance.of('lock:released').length === 1, 'the day is completed');
    assert.equal(instance.of('run:completed').length, 1);
    assert.deepEqual(effects, ['2026-11-20']);
    await place.elapse('1m');
    assert.deepEqual(await instance.guard.runOverdue(), { started: 0, overdue: 0 });
    assert.equal(effects.length, 1);
  },
);

testLedger(
  'the database goes down after the lock was taken: the day is completed as well (L-61)',
  async (place) => {
    const network: Network = { isUp: true };
    const instance = instanceBehind(network, place);
    const { tick, effects } = daily(instance);
    const goes = instance.guard.on('lock:acquired', () => (network.isUp = false));
    assert.equal(await tick(), undefined);
    goes();
    assert.deepEqual(effects, []);
    network.isUp = true;
    // The lock could not be released either.
    await place.elapse('61s');
    assert.deepEqual(await instance.guard.runOverdue(), { started: 1, overdue: 0 });
    assert.deepEqual(effects, ['2026-11-20']);
  },
);

testLedger(
  'the database is down until the day ends: the day is missed, and a warning reports it (L-61)',
  async (place) => {
    const network: Network = { isUp: false };
    const instance = instanceBehind(network, place);
    const { tick, effects } = daily(instance);
    await tick();
    await place.elapse('1d');
    network.isUp = true;
    await instance.guard.runOverdue();
    await instance.guard.runOverdue();
    assert.deepEqual(effects, []);
    const gaps = instance
      .of('guard:warning')
      .filter(({ message }) => message.includes('the period is missed'));
    assert.equal(gaps.length, 1);
  },
);

testLedger(
  'yesterday’s retry holds the lock at today’s only tick: today is completed within a minute after the retry ends (L-62)',
  async (place) => {
    const [yesterday, today] = [place.instance(), place.instance(EVERY_MINUTE)];
    const failing = (): never => {
      throw new Error('no bank today');
    };
    const keptAlive = dayJob({ retry: { initialDelay: '20h' } }, { keepAlive: true });
    await assert.rejects(yesterday.guard.run(keptAlive, failing), /no bank/);
    await place.elapse('20h30s');
    const at = new Date('2026-11-20T12:00:00Z');
    const retry = await runningJob(yesterday.guard, { ...keptAlive, at });
    const { tick, effects } = daily(today);
    assert.equal(await tick(), undefined);
    assert.deepEqual(
      today.of('lock:skipped').map(({ reason, willRetry }) => [reason, willRetry]),
      [['locked', true]],
    );
    retry.finish();
    await retry.result;
    await minute(
      place,
      () => today.of('run:completed').some(({ name }) => name === 'close-day'),
      'today is completed',
    );
    assert.deepEqual(effects, ['2026-11-21']);
    assert.equal((await today.guard.ledger.get(SECOND_DAY))?.state, 'completed');
  },
);

testLedger(
  'another scope in the same process holds the lock: today is completed as well (L-62)',
  async (place) => {
    const instance = place.instance();
    const { guard } = instance;
    const ends = new Map<string, () => void>();
    const scoped = dayJob({ scope: (region: string) => region, resume: ({ scope }) => [scope] });
    const job = guard.wrap(scoped, async (region: string) => {
      if (region === 'eu') await new Promise<void>((resolve) => ends.set(region, resolve));
    });
    const eu = job('eu');
    await eventually(() => ends.has('eu'), 'eu runs');
    assert.equal(await job('us'), undefined);
    assert.deepEqual(
      instance.of('lock:skipped').map(({ reason, willRetry }) => [reason, willRetry]),
      [['running-here', true]],
    );
    assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
    ends.get('eu')?.();
    await eu;
    assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
    assert.equal((await guard.ledger.last('close-day', { scope: 'us' }))?.state, 'completed');
  },
);

for (const [catchUp, found] of [
  ['none', []],
  ['all', ['2026-11-20T03:01']],
] as const) {
  testLedger(
    `catchUp '${catchUp}': a tick with a custom period key found the lock held until its period ended (L-62)`,
    async (place) => {
      const { guard } = place.instance();
      const period = (at: Date): string => at.toISOString().slice(0, 16);
      const everyMinute = dayJob({ period, catchUp }, { lockAtMostFor: '10m' });
      const keys: string[] = [];
      const tick = guard.wrap(everyMinute, () => void keys.push(currentRun().periodKey));
      const before = await runningJob(place.instance().guard, everyMinute);
      await place.elapse('1m');
      assert.equal(await tick(), undefined);
      await place.elapse('1m');
      before.finish();
      await before.result;
      assert.deepEqual(await guard.runOverdue(), { started: found.length, overdue: 0 });
      assert.deepEqual(keys, found);
      assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
    },
  );
}
