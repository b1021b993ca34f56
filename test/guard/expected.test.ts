import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OncePerConfiguration } from 'cronlatch';
import { weekdays } from 'cronlatch/calendar';
import { operations } from 'cronlatch/operations';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { isRunningAt } from '#cronlatch/ledger/expected';
import type { DeclaredCron } from '#cronlatch/ledger/periods/schedule';
import { warningsOf } from '../support/benches/guard';
import { guardOfRuns } from '../support/benches/guard-of-runs';

const HOUR_MS = 3_600_000;
const ZONE = 'Europe/Paris';
const cron = (expression: string, dialect: 'croner' | 'node-cron' = 'croner'): DeclaredCron => ({
  ...{ expression, timeZone: ZONE, dialect },
});

/** A guard with one job that runs once per period, from an instant on. `tick` delivers a tick now. */
async function watched(from: string, expression: string, oncePer: OncePerConfiguration, of = guardOfRuns()) {
  const { guard, clock, events } = of;
  const warnings = warningsOf(events);
  /** Moves the clock to an instant. */
  const at = (instant: string): void => {
    const leftMs = Date.parse(instant) - clock.wallMs();
    for (let ms = leftMs; ms > 0; ms -= 200 * 24 * HOUR_MS) clock.advance(Math.min(ms, 200 * 24 * HOUR_MS));
  };
  at(from);
  const job = { name: 'job', lockAtMostFor: '10m', oncePer: { timeZone: ZONE, ...oncePer } } as const;
  const call = guard.wrap(job, () => 'done', {
    schedule: cron(expression),
    scheduledAt: () => new Date(clock.wallMs()),
  });
  await guard.runOverdue();
  /** The keys of the job's runs, the oldest first. */
  const keys = async () =>
    (await guard.ledger.list({ order: 'oldest-first', limit: 1000 })).map(({ periodKey }) => periodKey);
  const missed = async () => (await guard.ledger.gaps('job')).map(({ key }) => key);
  const problems = async () =>
    (await operations(guard).overview()).jobs.flatMap((each) =>
      each.problems.map(({ text }) => text.replace(/:.*/, '')),
    );
  return { ...of, at, tick: call, keys, missed, problems, warnings };
}

void test('an hour without a tick is never run, missed or reported (S-07)', async () => {
  const oncePer = { period: 'hour', catchUp: 'all' } as const;
  const of = await watched('2027-11-19T07:30:00Z', '0 9-17 * * 1-5', oncePer);
  for (const hour of ['08', '09', '10']) {
    of.at(`2027-11-19T${hour}:00:00Z`); // 9, 10 and 11 o'clock on Friday, in Paris.
    await of.tick();
  }
  of.at('2027-11-22T09:30:00Z'); // Monday, 10:30
  const hours = [12, 13, 14, 15, 16, 17].map((hour) => `2027-11-19T${hour}+0100`);
  const expected = [...hours, '2027-11-22T09+0100'];
  assert.deepEqual(await of.missed(), expected);
  assert.deepEqual(await of.problems(), [
    `Job 'job' is late`,
    `Job 'job' has missed ${expected[0]} and 6 more. To run them`,
  ]);
  await of.guard.runOverdue();
  // This hour is made up.
  assert.deepEqual((await of.keys()).slice(3), [...expected, '2027-11-22T10+0100']);
});

void test('a weekend is neither missed nor warned of, without a calendar (S-08)', async () => {
  const of = await watched('2027-11-19T01:00:00Z', '0 3 * * 1-5', { period: 'day', catchUp: 'all' });
  of.at('2027-11-19T02:00:00Z');
  await of.tick();
  of.at('2027-11-22T01:30:00Z');
  assert.deepEqual([await of.missed(), await of.problems(), of.warnings], [[], [], []]);
  of.at('2027-11-23T01:30:00Z');
  assert.deepEqual(await of.missed(), ['2027-11-22']);
});

void test('five months a year are not expected at the 31st (S-09)', async () => {
  const of = await watched('2027-01-30T00:00:00Z', '0 3 31 * *', { period: 'month', catchUp: 'all' });
  of.at('2027-01-31T02:00:00Z');
  await of.tick();
  of.at('2028-01-15T00:00:00Z');
  const days = ['2027-03', '2027-05', '2027-07', '2027-08', '2027-10', '2027-12'];
  assert.deepEqual(await of.missed(), days);
  assert.deepEqual(await of.problems(), [`Job 'job' is late`, `Job 'job' has missed 2027-12. To run them`]);
});

for (const [period, expression, first, later, missed] of [
  ['day', '0 3 * * *', '2027-11-16T02:00:00Z', '2027-11-18T01:00:00Z', ['2027-11-16']],
  ['week', '0 3 * * 2', '2027-11-16T02:00:00Z', '2027-12-01T01:00:00Z', ['2027-W46']],
  ['month', '0 3 2 * *', '2027-11-02T02:00:00Z', '2028-01-01T01:00:00Z', ['2027-11']],
] as const)
  void test(`a tick counts for the ${period} before, which is missed when the time of its ticks has passed (S-10)`, async () => {
    const of = await watched('2027-11-01T00:00:00Z', expression, { period, target: 'previous' });
    of.at(first);
    await of.tick();
    assert.deepEqual(await of.missed(), []);
    of.at(later);
    assert.deepEqual(await of.missed(), missed);
  });

void test('a tick before the start of the day counts for the date before (S-11)', async () => {
  const of = await watched('2027-11-15T12:00:00Z', '0 3 * * 2', { period: 'day', dayStart: '05:00' });
  of.at('2027-11-16T02:00:00Z');
  await of.tick();
  assert.deepEqual(await of.keys(), ['2027-11-15']);
  of.at('2027-11-23T03:30:00Z'); // Until five, Tuesday's tick can still come.
  assert.deepEqual(await of.missed(), []);
  of.at('2027-11-23T04:30:00Z');
  assert.deepEqual(await of.missed(), ['2027-11-22']);
});

void test('a period that was missed is reported by name, although a later one ran, for a week (S-16)', async () => {
  const of = await watched('2027-11-15T00:00:00Z', '0 3 * * *', { period: 'day' });
  for (const day of [16, 18]) {
    of.at(`2027-11-${day - 1}T02:00:00Z`);
    await of.tick();
  }
  assert.deepEqual(await of.problems(), [`Job 'job' has missed 2027-11-16. To run them`]);
  const day = { job: 'job', period: '2027-11-16' };
  await operations(of.guard).skip(day, { actor: 'anna', reason: 'a test' });
  assert.deepEqual(await of.problems(), []);
});

void test('two versions with different schedules run each day once, with one warning (S-19)', async () => {
  const of = await watched('2027-11-15T00:00:00Z', '0 3 * * *', { period: 'day', catchUp: 'all' });
  of.at('2027-11-15T02:00:00Z');
  await of.tick();
  const { events: _, ...options } = of.options();
  const other = { ...guardOfRuns({ ...options, instanceName: 'green' }), clock: of.clock };
  const green = await watched('2027-11-15T12:00:00Z', '0 22 * * *', { period: 'day', catchUp: 'all' }, other);
  for (const instant of ['2027-11-15T21:00:00Z', '2027-11-16T02:00:00Z', '2027-11-16T21:00:00Z']) {
    of.at(instant);
    for (const each of [green, of]) await each.tick();
    for (const each of [green, of]) await each.guard.runOverdue();
  }
  assert.deepEqual(await of.keys(), ['2027-11-15', '2027-11-16']);
  assert.equal(green.warnings.length + of.warnings.length, 1);
});

void test('the checks for late jobs and for ticks without a run read nothing while no job has a new time, and else twice (S-21)', async (t) => {
  const of = guardOfRuns();
  of.clock.advance(HOUR_MS - (of.clock.wallMs() % HOUR_MS));
  const declaration = { place: 'test', call: () => () => 'done', schedules: [cron('*/30 * * * *')] };
  const configurations = Array.from({ length: 500 }, (_, number) => ({
    ...{ name: `job ${number}`, lockAtMostFor: '1m' },
    oncePer: { period: 'day', timeZone: ZONE } as const,
  }));
  callsOf(of.guard).admit(configurations.map((configuration) => ({ ...declaration, configuration })));
  await of.guard.runOverdue();
  const reads = (['jobs', 'latest', 'since', 'peek', 'find'] as const).map((name) =>
    t.mock.method(of.runStore, name),
  );
  const count = (): number => reads.reduce((sum, { mock }) => sum + mock.callCount(), 0);
  of.clock.advance('34m');
  await of.guard.runOverdue();
  const before = count(); // The instance has registered its jobs again.
  of.clock.advance('90s');
  await of.guard.runOverdue();
  assert.equal(count() - before, 2);
  of.clock.advance('10s');
  await of.guard.runOverdue();
  assert.equal(count() - before, 2);
  await operations(of.guard).overview();
  assert.equal(count() - before, 5, 'and the locks');
  of.clock.advance('25m'); // The next time was 40 s ago, and may still get its tick.
  await of.guard.runOverdue();
  const registered = count();
  of.clock.advance('50s');
  await of.guard.runOverdue();
  assert.equal(count() - registered, 2);
  of.clock.advance('10s');
  await of.guard.runOverdue();
  assert.equal(count() - registered, 2);
});

void test('an expression that only its scheduler reads runs, with one warning (S-25)', async () => {
  const of = guardOfRuns();
  const warnings = warningsOf(of.events);
  const oncePer = { period: 'day', timeZone: ZONE } as const;
  const configuration = { name: 'job', lockAtMostFor: '1m', oncePer };
  const schedules = [cron('0 3 L-2 * *', 'node-cron')];
  const declaration = { place: 'test', configuration, call: () => () => 1, schedules };
  const job = callsOf(of.guard).admitOne({ ...declaration, isAccepted: true });
  const call = { task: () => 1, args: [], call: job.call, scheduledAt: new Date(of.clock.wallMs()) };
  assert.equal((await callsOf(of.guard).execute(job, call)).executed, true);
  of.clock.advance('90h');
  const { jobs } = await operations(of.guard).overview();
  assert.deepEqual(
    jobs.map(({ problems, nextScheduledAt }) => [problems, nextScheduledAt]),
    [[[], undefined]],
  );
  assert.deepEqual(warnings, [
    `Job 'job' is not watched: its scheduler runs it, but its times are unknown here. The cron expression "0 3 L-2 * *" of job 'job' cannot be read: its day of the month is 'L-2'.`,
  ]);
});

void test('a schedule that cannot be read is refused by the job and what is wrong', () => {
  const { guard } = guardOfRuns();
  const lock = { name: 'job', lockAtMostFor: '1m' } as const;
  for (const [schedule, message] of [
    ['0 3 32 * *', /^The cron expression "0 3 32 \* \*" of job 'job' cannot be read: .+/],
    ['0 3 31 2 *', /of job 'job' never fires: no date matches it\.$/],
    [
      { expression: '0 3 * * *', timeZone: 'Foo/Bar' },
      /^timeZone of job 'job' is "Foo\/Bar", which is not a time zone/,
    ],
    [{ expression: '0 3 * * foo', dialect: 'node-cron' }, /cannot be read: its weekday is 'foo'\.$/],
    [
      { expression: '0 3 * * *', dialect: 'quartz' },
      /^dialect of job 'job' is "quartz": use node-cron, cron, croner, unix\.$/,
    ],
    [{ expresion: '0 3 * * *' }, /Did you mean 'expression'\?/],
    [5, /^schedule of guard\.wrap\('job'\) needs an object/],
    [
      { every: 0 },
      /^every of the schedule of guard\.wrap\('job'\) is 0: use a positive number of milliseconds\.$/,
    ],
    [{ every: 1000, dialect: 'unix' }, /dialect/],
    [{}, /cannot be read: it is not a text\.$/],
  ] as const)
    assert.throws(() => guard.wrap(lock, () => {}, { schedule: schedule as string }), {
      code: 'CRONLATCH_INVALID_CONFIGURATION',
      message,
    });
});

void test('a calendar that fails at the check gets the question later, and nothing is missed meanwhile (S-26)', async () => {
  let isAway = true;
  const isBusinessDay = (date: string): boolean => (isAway ? assert.fail('away') : date !== '2027-11-16');
  const calendar = { isBusinessDay };
  const of = await watched('2027-11-15T00:00:00Z', '0 3 * * *', { period: 'day', catchUp: 'all', calendar });
  of.at('2027-11-15T02:00:00Z');
  isAway = false;
  await of.tick();
  isAway = true;
  of.at('2027-11-18T01:00:00Z');
  await of.guard.runOverdue();
  assert.deepEqual(await of.keys(), ['2027-11-15']);
  isAway = false;
  await of.guard.runOverdue();
  assert.deepEqual(await of.keys(), ['2027-11-15', '2027-11-17']);
});

for (const [expression, runs] of [
  ['0 3 1-3 * *', 12],
  ['0 3 L * *', 8],
] as const)
  void test(`a month at '${expression}' runs on a weekday, or not at all (S-29)`, async () => {
    const oncePer = { period: 'month', calendar: weekdays() } as const;
    const of = await watched('2026-12-31T12:00:00Z', expression, oncePer);
    for (let day = 0; day < 365; day += 1) {
      const date = new Date(Date.UTC(2027, 0, 1 + day));
      const isLast = new Date(date.getTime() + 24 * HOUR_MS).getUTCDate() === 1;
      if (expression.includes('L') ? !isLast : date.getUTCDate() > 3) continue;
      of.at(`${date.toISOString().slice(0, 10)}T03:00:00Z`);
      await of.tick();
      await of.guard.runOverdue();
      of.clock.advance('10m');
      assert.deepEqual(await of.problems(), [], date.toISOString());
    }
    const done = await of.guard.ledger.list({ states: ['completed'] });
    assert.equal(done.length, runs);
    for (const { startedAt } of done) assert.ok(![0, 6].includes(startedAt?.getUTCDay() ?? 0));
  });

void test('a run that ended at the time of a tick does not answer it', () => {
  const tick = new Date('2026-11-20T03:00:00Z');
  const later = new Date(tick.getTime() + 1);
  assert.equal(isRunningAt(tick, { state: 'completed', finishedAt: tick }), false);
  assert.equal(isRunningAt(tick, { state: 'completed', finishedAt: later }), true);
  assert.equal(isRunningAt(tick, { state: 'running', finishedAt: undefined }), true);
});
