import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configureJobGuard, type JobGuard } from 'cronlatch';
import { scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import { testOnEvery } from '../support/databases/fresh';
import { ledgerPlace, memoryStores, type LedgerPlace } from '../support/stores/ledger-place';
import { ledgerDataSource } from '../support/databases/run-tables';
import { SettlementJobs } from '../readme/settlement';
import { closing } from '../support/benches/closing';
import { closeDayOf, closeDayWith } from './once-per-business-day/by-hand';
import { ClosingJobs } from './once-per-business-day/closing';
import dataSource from './once-per-business-day/ormconfig';
import { PaymentJobs } from './once-per-business-day/payments';
import { ReportJobs } from './once-per-business-day/periods';
import { report } from './once-per-business-day/querying';
import { SyncJobs } from './once-per-business-day/ticks';
import {
  markCompleted,
  purgeOldRuns,
  rerunDay,
  runMissedDays,
  skipDay,
} from './once-per-business-day/repairing';

/** A test of code on the page, on a time that stands still. */
function testPage(name: string, now: string, body: (place: LedgerPlace) => Promise<void>): void {
  void test(name, async () => {
    const { place, close } = ledgerPlace(memoryStores(now));
    try {
      await body(place);
    } finally {
      configureJobGuard(undefined, { replace: true });
      await close();
    }
  });
}

function configured(place: LedgerPlace): JobGuard {
  const { guard } = place.instance({ defaultLockAtMostFor: '1m' });
  configureJobGuard(guard, { replace: true });
  return guard;
}

testOnEvery('its first job is done once a day, with its effect', async (database) => {
  await using application = closing(await ledgerDataSource(database));
  await using guard = closing(await createJobGuard(application));
  await application.query('CREATE TABLE settlement (business_date VARCHAR(10), total INT)');
  const jobs = new SettlementJobs();
  scheduleJobs(jobs, { guard });
  await jobs.settle();
  await jobs.settle();
  const run = await guard.ledger.last('daily-settlement');
  assert.deepEqual([run?.state, run?.attempt, run?.timeZone], ['completed', 1, 'Asia/Shanghai']);
  const rows = await application.query<{ business_date: string }[]>('SELECT business_date FROM settlement');
  assert.deepEqual(
    rows.map((row) => row.business_date),
    [run?.periodKey],
  );
});

void test('its ormconfig makes the tables of locks, of the ledger, of the register and of operations', () => {
  const { migrations } = dataSource.options;
  const [Migration, ...others] = Object.values(migrations ?? {}) as (new () => { name: string })[];
  assert.match(Migration === undefined ? '' : new Migration().name, /^CronlatchTables\d{13}$/);
  assert.deepEqual(others, []);
});

// Sunday, 22 November 2026, 07:00 in Shanghai.
testPage('Saturday has no run, Monday has one on Tuesday', '2026-11-21T23:00:00Z', async (place) => {
  const guard = configured(place);
  const jobs = new ClosingJobs();
  await jobs.closeBooks();
  await place.elapse('2d');
  await jobs.closeBooks();
  const runs = await guard.ledger.list({ order: 'oldest-first' });
  assert.deepEqual(
    runs.map(({ periodKey, state, reason }) => [periodKey, state, reason]),
    [
      ['2026-11-21', 'skipped', 'calendar'],
      ['2026-11-23', 'completed', undefined],
    ],
  );
});

testPage('a repeated payment has the same key', '2026-11-20T09:00:00Z', async (place) => {
  const guard = configured(place);
  const keys: string[] = [];
  let isDown = true;
  const bank = {
    transfer: (account: string, key: string) => {
      keys.push(key);
      return account === 'B' && isDown ? Promise.reject(new Error('no answer')) : Promise.resolve();
    },
  };
  const jobs = new PaymentJobs(bank, () => Promise.resolve(['A', 'B']));
  await assert.rejects(jobs.paySuppliers(), /no answer/);
  isDown = false;
  await place.elapse('1m');
  assert.equal(await jobs.paySuppliers(), 2);
  const [a, b] = ['A', 'B'].map((account) => `pay-suppliers//2026-11-20/0/${account}`);
  assert.deepEqual(keys, [a, b, a, b]);
  assert.equal((await guard.ledger.last('pay-suppliers'))?.result, '2');

  await place.elapse('1d');
  await assert.rejects(new PaymentJobs(bank, () => Promise.resolve([])).paySuppliers(), /no account to pay/);
  assert.equal((await guard.ledger.last('pay-suppliers'))?.reason, 'fatal');
});

testPage('weeks, half days and tenants have their periods', '2026-11-20T09:00:00Z', async (place) => {
  const guard = configured(place);
  const jobs = new ReportJobs();
  await jobs.weekly();
  await jobs.halfDaily();
  await place.elapse('3h');
  await jobs.halfDaily();
  await jobs.weekly();
  assert.equal(await jobs.forTenant('north'), 'report of north');
  assert.equal(await jobs.forTenant('south'), 'report of south');
  assert.equal(await jobs.forTenant('north'), undefined, 'its day is done');
  const runs = await guard.ledger.list({});
  assert.deepEqual(runs.map(({ scope, periodKey }) => `${scope} ${periodKey}`).sort(), [
    ' 2026-11-20-am',
    ' 2026-11-20-pm',
    ' 2026-W47',
    'north 2026-11-20',
    'south 2026-11-20',
  ]);
});

testPage(
  'a call can choose its day, and the guard retries a wrapped job',
  '2026-11-20T09:00:00Z',
  async (place) => {
    const { guard } = place.instance();
    const days: string[] = [];
    const closeToday = closeDayWith(guard, () =>
      days.push('tried') === 1 ? Promise.reject(new Error('not yet')) : Promise.resolve(),
    );
    await closeToday();
    await place.elapse('1m');
    assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
    const nothing = (): Promise<void> => Promise.resolve();
    assert.equal(await closeDayOf(guard, new Date('2026-11-18T12:00:00Z'), nothing), 'closed');
    assert.equal(await closeDayOf(guard, new Date('2026-11-18T13:00:00Z'), nothing), 'already-completed');
  },
);

testPage('the ledger answers the queries of the page', '2026-11-17T09:00:00Z', async (place) => {
  const { guard } = place.instance();
  let isDown = true;
  const close = closeDayWith(guard, () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve()));
  await closeDayOf(guard, new Date('2026-11-17T09:00:00Z'), () => Promise.resolve());
  await place.elapse('2d');
  await close();
  await place.elapse('1d');
  await close();
  isDown = false;
  await place.elapse('1m');
  await guard.runOverdue();
  const [run, newest, bad, history, gaps, tomorrow = ''] = await report(guard);
  assert.deepEqual(
    [run, newest, bad, history, gaps],
    [
      '2026-11-20: completed, attempt 2, result undefined',
      'newest: 2026-11-20',
      'failed or interrupted: 2026-11-19',
      'what happened: failed (attempt 1)',
      'never run: 2026-11-18',
    ],
  );
  assert.match(tomorrow, /^tomorrow: run\. A tick of job 'close-day' .* counts for 2026-11-21/);
});

testPage('an operator resolves an interrupted run', '2026-11-20T09:00:00Z', async (place) => {
  const configuration = {
    name: 'close-day',
    lockAtMostFor: '1m',
    oncePer: { period: 'day', timeZone: 'Europe/Paris', onCrash: 'hold' },
  } as const;
  const stopped = place.instance();
  const started = new Promise<void>((resolve) => {
    const task = (): Promise<never> => (resolve(), new Promise(() => {}));
    void stopped.guard.run(configuration, task);
  });
  await started;
  await place.elapse('2m');
  const { guard } = place.instance();
  const nothing = (): void => assert.fail('it was repeated');
  assert.deepEqual(await guard.run(configuration, nothing), { executed: false, reason: 'interrupted' });
  assert.match(await markCompleted(guard, '2026-11-20'), /^Done\. It completed /);
  const answer = { executed: false, reason: 'already-completed' };
  assert.deepEqual(await guard.run(configuration, nothing), answer);
});

testPage('an operator repairs runs', '2026-11-15T09:00:00Z', async (place) => {
  const { guard } = place.instance();
  const days: string[] = [];
  const close = closeDayWith(guard, () => Promise.resolve(void days.push('closed')));
  await close();
  await place.elapse('4d');
  assert.equal(await runMissedDays(guard), 3);
  await rerunDay(guard, '2026-11-17');
  assert.equal((await guard.ledger.get({ job: 'close-day', periodKey: '2026-11-17' }))?.generation, 1);
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  assert.equal(days.length, 5);
  await skipDay(guard, '2026-11-19');
  await close();
  assert.equal(days.length, 5);
  await assert.rejects(markCompleted(guard, '2026-11-19'), /it is skipped/);
  for (const duration of ['200d', '201d'] as const) await place.elapse(duration);
  assert.equal(
    await purgeOldRuns(guard),
    'Deleted 4. Not recorded: this guard keeps no acts.',
    'the newest run stays',
  );
});

testPage('a job of the page records each of its calls', '2026-11-20T03:00:00Z', async (place) => {
  const guard = configured(place);
  const jobs = new SyncJobs();
  await jobs.sync();
  await jobs.sync();
  const runs = await guard.ledger.list({ job: 'sync' });
  assert.deepEqual(
    runs.map(({ state, periodStart }) => [state, periodStart]),
    Array(2).fill(['completed', new Date('2026-11-20T03:00:00Z')]),
  );
});
