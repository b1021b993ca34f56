/**
 * Random expressions in zones with clock changes. Two comparisons of each: with the rules of clock changes, written below on
 * the wall times of its scheduler, without exception; and with the scheduler in the zone, where each difference has a rule.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { CronTime } from 'cron';
import fc from 'fast-check';
import { Schedule, type DeclaredCron } from '#cronlatch/ledger/periods/schedule';
import type { Dialect } from '#cronlatch/ledger/periods/schedule-expression';
import { sampleSize } from '../../support/checks/sample-size';
import { expressions } from '../../support/schedules/expressions';
import {
  cron,
  cronerNext,
  croner,
  cronNext,
  nodeCron,
  nodeCronMatch,
  type Reference,
  type Scheduler,
} from '../../support/schedules/references';
import {
  changesOf,
  FROM_MS,
  HORIZON_MS,
  isGap,
  isRepeated,
  isSecondCopy,
  stretchAt,
  TO_MS,
  ZONES,
  type Change,
  type Zone,
} from '../../support/schedules/zones';

const EXPRESSIONS = sampleSize({ fast: 50, full: 1250 });
const [SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS] = [1000, 60_000, 3_600_000, 86_400_000];

/** Rule 1: a date whose times all lie in the gap has one time, the change. */
function skipsDate({ wallNext }: Reference, { oldMs, newMs }: Change): boolean {
  for (let startMs = Math.floor(oldMs / DAY_MS) * DAY_MS; startMs < newMs; startMs += DAY_MS) {
    const endMs = startMs + DAY_MS;
    const first = wallNext(startMs - 1) ?? Infinity;
    const isInGap = oldMs <= first && first < Math.min(newMs, endMs);
    if (isInGap && (wallNext(newMs - 1) ?? Infinity) >= endMs) return true;
  }
  return false;
}

/** By the rules: the times of each stretch are those of its wall clock. Rule 2: a single time is not named again. */
function expectedNext(reference: Reference, zone: Zone, afterMs: number): number {
  const changes = changesOf(zone);
  for (const { fromMs, toMs, offsetMs } of zone.stretches) {
    if (toMs <= afterMs + 1) continue;
    const change = changes.find(({ atMs }) => atMs === fromMs);
    if (change !== undefined && change.atMs > afterMs && skipsDate(reference, change)) return change.atMs;
    let wallMs = Math.max(afterMs, fromMs - 1) + offsetMs;
    do wallMs = reference.wallNext(wallMs) ?? Infinity;
    while (reference.isSingle && change !== undefined && isRepeated(wallMs, change));
    if (wallMs - offsetMs < toMs) return wallMs - offsetMs;
  }
  return Infinity;
}

/** Around each change, and anywhere in the two years. */
function instantsIn(zone: Zone): fc.Arbitrary<number[]> {
  const near = (atMs: number): fc.Arbitrary<number[]> =>
    fc
      .array(
        fc.oneof(
          { weight: 8, arbitrary: fc.integer({ min: -16, max: 16 }).map((quarters) => quarters * 900_000) },
          fc.integer({ min: -4 * HOUR_MS, max: 4 * HOUR_MS }),
          fc.constantFrom(-SECOND_MS, -1, 0, 1, SECOND_MS),
        ),
        { minLength: 40, maxLength: 40 },
      )
      .map((offsets) => offsets.map((ms) => atMs + ms));
  const within = changesOf(zone).filter(({ atMs }) => atMs >= FROM_MS && atMs < TO_MS);
  const anywhere = fc.array(fc.integer({ min: FROM_MS, max: TO_MS }), { minLength: 40, maxLength: 40 });
  return fc.tuple(anywhere, ...within.map(({ atMs }) => near(atMs))).map((all) => all.flat());
}

/** How often a scheduler names another time, by the rule that explains it. */
class Differences {
  readonly #byRule = new Map<string, number>();

  count(rule: string): void {
    this.#byRule.set(rule, (this.#byRule.get(rule) ?? 0) + 1);
  }

  report(t: TestContext): void {
    for (const [rule, count] of this.#byRule) t.diagnostic(`${count} ${rule}`);
  }
}

/** What `Schedule` may leave to its scheduler: the job runs, unwatched. */
function isUnread(expression: string, dialect: Dialect): boolean {
  const days = (expression.split(' ').at(-3) ?? '').toUpperCase().split(',');
  const isListWithLW = days.length > 1 && days.includes('LW');
  return dialect === 'node-cron' && (isListWithLW || days.some((day) => day.startsWith('L-')));
}

function scheduleOf(declared: DeclaredCron): Schedule | undefined {
  try {
    return Schedule.of([declared]);
  } catch (error) {
    assert.match(String(error), /cannot be read|never fires/);
    return undefined;
  }
}

interface Sample {
  readonly expression: string;
  readonly zone: Zone;
  readonly schedule: Schedule;
  readonly reference: Reference;
}

/** Throws for an instant at which the scheduler in the zone differs without a rule. Counts the others. */
type Comparison = (nextMs: number, afterMs: number) => string | undefined;

function compareAll(
  t: TestContext,
  dialect: Dialect,
  scheduler: Scheduler,
  comparison: (sample: Sample) => Comparison,
): void {
  const differences = new Differences();
  const samples = fc.constantFrom(...ZONES).chain((zone) =>
    fc.record({
      zone: fc.constant(zone),
      expression: expressions(dialect).filter((each) => scheduler.read(each) !== undefined),
      instants: instantsIn(zone),
    }),
  );
  fc.assert(
    fc.property(samples, ({ zone, expression, instants }) => {
      const reference = scheduler.read(expression);
      assert.ok(reference !== undefined);
      const declared = { expression, dialect, timeZone: zone.timeZone };
      const schedule = scheduleOf(declared);
      if (schedule === undefined) {
        assert.ok(isUnread(expression, dialect) || reference.wallNext(Date.now()) === undefined);
        return differences.count('expressions not read, or without a time');
      }
      const sample = { expression, zone, schedule, reference };
      const compare = comparison(sample);
      differences.count('expressions compared');
      for (const afterMs of instants) {
        const nextMs = compareWithRules(sample, afterMs);
        const rule = compare(nextMs, afterMs);
        if (rule !== undefined) differences.count(rule);
      }
    }),
    { numRuns: EXPRESSIONS, endOnFailure: true },
  );
  differences.report(t);
}

/** @returns the time after the instant */
function compareWithRules({ schedule, reference, zone }: Sample, atMs: number): number {
  const expected = (afterMs: number): number => expectedNext(reference, zone, afterMs);
  const nextMs = schedule.next(new Date(atMs))?.getTime() ?? Infinity;
  const expectedMs = expected(atMs);
  const isLater = expectedMs === Infinity && nextMs >= HORIZON_MS;
  if (!isLater) assert.equal(iso(nextMs), iso(expectedMs), `next after ${iso(atMs)}`);
  const previousMs = schedule.previous(new Date(atMs))?.getTime() ?? -Infinity;
  assert.ok(previousMs <= atMs);
  if (previousMs < FROM_MS) return nextMs;
  assert.equal(iso(expected(previousMs - 1)), iso(previousMs), `previous of ${iso(atMs)} is a time`);
  assert.ok(expected(previousMs) > atMs, `previous of ${iso(atMs)} is the last time, not ${iso(previousMs)}`);
  return nextMs;
}

function iso(atMs: number): string {
  return Number.isFinite(atMs) ? new Date(atMs).toISOString() : String(atMs);
}

/** Why a scheduled time is one, though the scheduler does not name it. */
function ruleOfChange({ reference, zone }: Sample, nextMs: number): string | undefined {
  const change = changesOf(zone).find(({ atMs }) => atMs === nextMs);
  return change !== undefined && skipsDate(reference, change)
    ? 'changes of clocks that skip all times of a date'
    : undefined;
}

const PROBES_MS = [0, 1, 2, 5, 15, 30].map((minutes) => minutes * MINUTE_MS);

const compareWithNodeCron = (sample: Sample): Comparison => {
  const { expression, zone, reference, schedule } = sample;
  const repeatedMs = Math.max(...changesOf(zone).map(({ oldMs, newMs }) => oldMs - newMs));
  const matches = nodeCronMatch(expression, zone.timeZone);
  return (nextMs, afterMs) => {
    const minuteMs = Math.ceil((afterMs + 1) / MINUTE_MS) * MINUTE_MS;
    const between = PROBES_MS.map((ms) => minuteMs + ms).filter((ms) => ms < nextMs);
    const copyMs = nextMs + repeatedMs;
    const hasCopy = schedule.next(new Date(copyMs - 1))?.getTime() === copyMs;
    const more = [...between, ...(hasCopy ? [] : [copyMs])].filter(matches);
    for (const atMs of more)
      assert.ok(reference.isSingle && isSecondCopy(zone, atMs), `node-cron has a time at ${iso(atMs)}`);
    const rule = more.length > 0 ? 'single times that node-cron names twice' : undefined;
    if (nextMs >= HORIZON_MS || matches(nextMs)) return rule;
    const skipped = ruleOfChange(sample, nextMs);
    assert.ok(skipped !== undefined, `node-cron has no time at ${iso(nextMs)}`);
    return skipped;
  };
};

const compareWithCron = ({ expression, zone, reference }: Sample): Comparison => {
  const next = cronNext(expression, zone.timeZone);
  const changes = changesOf(zone);
  return (nextMs, afterMs) => {
    const cronMs = next(afterMs) ?? Infinity;
    if (cronMs === nextMs) return undefined;
    const wallMs = reference.wallNext(afterMs + stretchAt(zone, afterMs).offsetMs) ?? Infinity;
    const copies = zone.stretches
      .filter(({ fromMs, toMs, offsetMs }) => fromMs <= wallMs - offsetMs && wallMs - offsetMs < toMs)
      .map(({ offsetMs }) => wallMs - offsetMs);
    const gap = changes.find((change) => isGap(wallMs, change));
    // To the change, or by the length of the gap if January has the summer time. The seconds stay.
    const moved = gap === undefined ? [] : [gap.atMs, wallMs - gap.oldMs + gap.atMs];
    if (moved.some((ms) => isWithin(cronMs, ms, MINUTE_MS))) return 'times that cron moves out of a gap';
    const isRepeatedTime = copies.length === 2 || isSecondCopy(zone, nextMs);
    if (copies.includes(cronMs) && isRepeatedTime) return 'repeated times that cron names once';
    const isEarly = [...copies, ...moved].some(
      (ms) =>
        [30, 60, 90].some((minutes) => ms - minutes * MINUTE_MS === cronMs) &&
        changes.some(({ atMs }) => isWithin(ms, atMs, 2 * HOUR_MS)),
    );
    if (isEarly) return 'times soon after a change that cron also names earlier';
    assert.fail(`after ${iso(afterMs)} cron has ${iso(cronMs)} instead of ${iso(nextMs)}`);
  };
};

function isWithin(atMs: number, fromMs: number, lengthMs: number): boolean {
  return fromMs <= atMs && atMs < fromMs + lengthMs;
}

const compareWithCroner = (sample: Sample): Comparison => {
  const { expression, zone } = sample;
  const next = cronerNext(expression, zone.timeZone);
  return (nextMs, afterMs) => {
    const cronerMs = next?.(afterMs) ?? Infinity;
    if (cronerMs === nextMs) return undefined;
    const rule = ruleOfChange(sample, nextMs);
    assert.ok(
      rule !== undefined,
      `after ${iso(afterMs)} croner has ${iso(cronerMs)} instead of ${iso(nextMs)}`,
    );
    return rule;
  };
};

void test('a schedule has the times of node-cron, but for the rules of clock changes', (t) => {
  compareAll(t, 'node-cron', nodeCron, compareWithNodeCron);
});

void test('a schedule has the times of cron, but for the rules of clock changes', (t) => {
  compareAll(t, 'cron', cron, compareWithCron);
});

void test('a schedule has the times of croner, but for the rules of clock changes', (t) => {
  compareAll(t, 'croner', croner, compareWithCroner);
});

/** For cron, a list of all days is an asterisk, which matters beside the other day. `*\/2` beside it is refused. */
function isReadAlike(expression: string): boolean {
  const days = [2, 4].map((index) => expression.split(' ')[index] ?? '');
  if (days.includes('*')) return true;
  const read = new CronTime(expression).toJSON();
  return days.every((day) => !day.startsWith('*')) && read[3] !== '*' && read[5] !== '*';
}

void test('an expression of Unix has the times of cron, if both read it alike', () => {
  const alike = expressions('unix').filter(isReadAlike);
  const samples = fc
    .constantFrom(...ZONES)
    .chain((zone) => fc.tuple(fc.constant(zone), alike, instantsIn(zone)));
  fc.assert(
    fc.property(samples, ([{ timeZone }, expression, instants]) => {
      if (cron.read(expression)?.wallNext(FROM_MS) === undefined) return;
      const one = Schedule.of([{ expression, timeZone, dialect: 'unix' }]);
      const other = Schedule.of([{ expression, timeZone, dialect: 'cron' }]);
      for (const at of instants.map((ms) => new Date(ms))) {
        assert.deepEqual(one?.next(at), other?.next(at));
        assert.deepEqual(one?.previous(at), other?.previous(at));
      }
    }),
    { numRuns: EXPRESSIONS, endOnFailure: true },
  );
});
