import assert from 'node:assert/strict';
import { weekdays, withHolidays, withWorkingDays, type BusinessCalendar } from 'cronlatch/calendar';
import { operations } from 'cronlatch/operations';
import { signal } from '../../support/benches/executor';
import { eventually } from '../../support/clocks/eventually';
import { BY } from '../../support/jobs/acts';
import { closeDay, diary, rowsOf } from '../../support/jobs/close-day';
import { testLedger } from '../../support/stores/ledger-tests';

const china = withWorkingDays(withHolidays(weekdays(), ['2026-11-20']), ['2026-11-21']);

testLedger('a holiday is recorded and does not run (L-34)', async (place) => {
  const instance = place.instance();
  const { task, runs } = diary();
  const job = closeDay({ calendar: china });
  assert.deepEqual(await instance.guard.run(job, task), { executed: false, reason: 'calendar' });
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 skipped(calendar)']);
  const [skipped] = instance.of('run:skipped');
  assert.deepEqual([skipped?.reason, skipped?.run?.periodKey], ['calendar', '2026-11-20']);
  assert.deepEqual(await instance.guard.run(job, task), { executed: false, reason: 'skipped' });
  assert.equal(runs.length, 0);
});

testLedger('a make-up Saturday runs, and the Sunday after it does not (L-34)', async (place) => {
  const instance = place.instance();
  const { task, periods } = diary();
  const job = closeDay({ calendar: china });
  for (let day = 20; day <= 23; day += 1) {
    await instance.guard.run(job, task);
    await place.elapse('1d');
  }
  assert.deepEqual(await rowsOf(instance), [
    '2026-11-20 skipped(calendar)',
    '2026-11-21 completed',
    '2026-11-22 skipped(calendar)',
    '2026-11-23 completed',
  ]);
  assert.deepEqual(periods(), ['2026-11-21', '2026-11-23']);
});

testLedger('an operator can still run a holiday (L-34)', async (place) => {
  const { guard } = place.instance();
  const { task, runs } = diary();
  const job = closeDay({ calendar: china });
  guard.wrap(job, task);
  await guard.run(job, task);
  await operations(guard).rerun({ job: 'close-day', period: '2026-11-20' }, BY);
  assert.equal((await guard.runOverdue()).started, 1);
  assert.deepEqual([runs[0]?.generation, runs[0]?.attempt], [1, 1]);
});

/** A calendar whose answer the test sets, and which counts its calls. */
function switchableCalendar() {
  let answer: BusinessCalendar['isBusinessDay'] = () => true;
  const calls: string[] = [];
  const calendar: BusinessCalendar = {
    isBusinessDay(date) {
      calls.push(date);
      return answer(date);
    },
  };
  const setAnswer = (next: typeof answer): void => void (answer = next);
  return { calendar, calls, setAnswer };
}

const noData = (): never => {
  throw new Error('no data');
};

testLedger(
  'while the calendar throws, nothing runs or is recorded, and cronlatch retries (L-34)',
  async (place) => {
    const instance = place.instance();
    const { guard } = instance;
    const { task, runs } = diary();
    const { calendar, calls, setAnswer } = switchableCalendar();
    const job = closeDay({ calendar });
    guard.wrap(job, task);
    setAnswer(noData);
    assert.deepEqual(await guard.run(job, task), { executed: false, reason: 'calendar' });
    assert.deepEqual(await rowsOf(instance), []);
    const [warning] = instance.of('guard:warning');
    assert.match(warning?.message ?? '', /close-day.*the calendar threw for 2026-11-20.*tries again/);
    assert.match(String(warning?.error), /no data/);
    assert.equal((await guard.runOverdue()).started, 0);
    setAnswer(() => Promise.resolve(true));
    assert.equal((await guard.runOverdue()).started, 1);
    assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
    assert.deepEqual(calls, ['2026-11-20', '2026-11-20', '2026-11-20']);
    assert.equal(runs.length, 1);
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed']);
  },
);

testLedger('a calendar that hangs has failed after five seconds (L-34)', async (place) => {
  const instance = place.instance();
  const { guard } = instance;
  const { task, runs } = diary();
  const { calendar, setAnswer } = switchableCalendar();
  const called = signal();
  setAnswer(() => {
    called.resolve();
    return new Promise(() => {});
  });
  const job = closeDay({ calendar });
  guard.wrap(job, task);
  const result = guard.run(job, task);
  await called.promise;
  await place.elapse('5s');
  assert.deepEqual(await result, { executed: false, reason: 'calendar' });
  assert.match(
    instance.of('guard:warning')[0]?.message ?? '',
    /did not answer for 2026-11-20 within 5000 ms/,
  );
  assert.deepEqual(await rowsOf(instance), []);
  setAnswer(() => true);
  assert.equal((await guard.runOverdue()).started, 1);
  assert.equal(runs.length, 1);
});

testLedger('the timer retries within a minute (L-34)', async (place) => {
  const instance = place.instance({ pollInterval: '1m' });
  const { guard } = instance;
  const { task } = diary();
  const { calendar, setAnswer } = switchableCalendar();
  setAnswer(noData);
  const job = closeDay({ calendar });
  guard.wrap(job, task);
  await guard.run(job, task);
  setAnswer(() => true);
  await place.elapse('1m');
  await eventually(() => instance.of('run:completed').length === 1, 'the run starts');
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed']);
});

testLedger('only its caller retries a job that is not registered (L-34)', async (place) => {
  const instance = place.instance();
  const { task, runs } = diary();
  const { calendar, setAnswer } = switchableCalendar();
  const job = closeDay({ calendar });
  setAnswer(noData);
  await instance.guard.run(job, task);
  setAnswer(() => true);
  assert.deepEqual(await instance.guard.runOverdue(), { started: 0, overdue: 0 });
  assert.deepEqual(await instance.guard.run(job, task), { executed: true, value: 'done' });
  assert.equal(runs.length, 1);
});

testLedger(
  'if the calendar fails until the day has ended, the day is missed, and a warning reports it (L-34)',
  async (place) => {
    const instance = place.instance();
    const { guard } = instance;
    const { task, runs } = diary();
    const { calendar, setAnswer } = switchableCalendar();
    const job = closeDay({ calendar });
    guard.wrap(job, task);
    await guard.run(job, task);
    await place.elapse('1d');
    setAnswer(noData);
    await guard.run(job, task);
    await place.elapse('1d');
    setAnswer(() => true);
    assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
    assert.match(instance.of('guard:warning').at(-1)?.message ?? '', /2026-11-20.*the period is missed/);
    assert.equal(runs.length, 1);
    assert.deepEqual(
      (await guard.ledger.gaps('close-day')).map(({ key }) => key),
      ['2026-11-20'],
    );
  },
  { now: '2026-11-19T03:00:00Z' },
);

testLedger('if a calendar fails for a missed day, runOverdue retries it (L-34)', async (place) => {
  const instance = place.instance();
  const { guard } = instance;
  const { task, periods } = diary();
  const { calendar, setAnswer } = switchableCalendar();
  const job = closeDay({ calendar, catchUp: 'all' });
  guard.wrap(job, task);
  await guard.run(job, task);
  await place.elapse('2d');
  setAnswer((date) => (date === '2026-11-21' ? Promise.reject(new Error('no data')) : true));
  await guard.run(job, task);
  await guard.runOverdue();
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed', '2026-11-22 completed']);
  setAnswer(() => true);
  assert.equal((await guard.runOverdue()).started, 1);
  assert.deepEqual(periods(), ['2026-11-20', '2026-11-22', '2026-11-21']);
});
