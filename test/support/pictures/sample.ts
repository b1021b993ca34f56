import { createJobGuard, createTables } from 'cronlatch/better-sqlite3';
import { newHoldOwner } from '#cronlatch/core/lease/hold-owner';
import { Schedule } from '#cronlatch/ledger/periods/schedule';
import { closeDayLog } from './close-day-log';
import { SAMPLE_JOBS, TIME_ZONE, type SampleJob } from './sample-jobs';
import { SampleRows, type SampleRun } from './sample-rows';

const [SECOND, MINUTE, DAY] = [1000, 60_000, 86_400_000];
/** A run that was due later than this may not have ended. */
const SETTLED_MS = 15 * MINUTE;
/** A guard keeps no more runs of a once-per-tick job. */
const MOST_TICKS = 1000;
const [WEB_1, WEB_2, KILLED] = ['web-1/2708', 'web-2/2710', 'web-2/1984'];

/**
 * Fills an empty SQLite database with the jobs of a company and ninety days of runs. They end at the current time, and are the
 * same each time but for that.
 */
export async function fillSample(file: string): Promise<void> {
  await createTables(`sqlite:${file}`);
  await declareJobs(file);
  const rows = new SampleRows(file);
  const now = Date.now();
  rows.inOneStep(() => {
    for (const [index, job] of SAMPLE_JOBS.entries()) fillJob(rows, job, now, seeded(index + 1));
    pauseReminders(rows, now);
    rows.update('cronlatch_job', { declared_at: now - 90 * DAY, registered_by: WEB_1 });
  });
  rows.close();
  refreshSample(file);
}

/** What living instances go on writing: that they answer ticks, and that they renew a lock. */
export function refreshSample(file: string): void {
  const rows = new SampleRows(file);
  const now = Date.now();
  rows.update('cronlatch_job', { answered_at: now, registered_at: now });
  rows.update('shedlock', { lock_until: now + MINUTE }, `name = 'rebuild-search-index'`);
  rows.close();
}

async function declareJobs(file: string): Promise<void> {
  const options = { pollInterval: false, logger: false, defaultTimeZone: TIME_ZONE } as const;
  const guard = await createJobGuard(`sqlite:${file}`, options);
  for (const { name, oncePer, enabled, schedule: when, lock } of SAMPLE_JOBS) {
    const schedule = typeof when === 'number' ? { every: when } : { expression: when, timeZone: TIME_ZONE };
    const times = lock ?? { lockAtMostFor: '1m', keepAlive: true };
    guard.wrap({ name, oncePer, enabled, ...times }, () => {}, { schedule });
  }
  await guard.close();
}

/** @returns at least 0, and less than 1 */
type Random = () => number;

function fillJob(rows: SampleRows, job: SampleJob, now: number, random: Random): void {
  const ticks = job.usualMs === undefined ? [] : ticksOf(job, now);
  for (const [index, tickAt] of ticks.entries()) {
    const run = usualRun(job, tickAt, random);
    const special = SPECIAL[job.name]?.[ticks.length - 1 - index];
    if (special === undefined) rows.run(run);
    else special(rows, run, now);
  }
}

/** Those of ninety days, the earliest first. */
function ticksOf({ schedule, oncePer }: SampleJob, now: number): number[] {
  if (typeof schedule === 'number') {
    const newest = Math.floor((now - SECOND) / schedule) * schedule;
    return Array.from({ length: MOST_TICKS }, (_, back) => newest - back * schedule).reverse();
  }
  const times = Schedule.of([{ expression: schedule, timeZone: TIME_ZONE, dialect: 'croner' }]);
  const all = times?.following(new Date(now - 90 * DAY), 90 * 24) ?? [];
  const ended = all.map((at) => at.getTime()).filter((at) => at < now - SETTLED_MS);
  return ended.slice(oncePer?.period === 'tick' ? -MOST_TICKS : 0);
}

/** One in 20 takes twice as long, and if the job can fail, one in 16 needs a second attempt. */
function usualRun({ name: job, ...of }: SampleJob, tickAt: number, random: Random): SampleRun {
  const { oncePer, usualMs = 0, counts, error } = of;
  const kind = typeof oncePer?.period === 'string' ? oncePer.period : 'day';
  const tookMs = usualMs * (0.8 + 0.4 * random()) * (random() < 0.05 ? 2 : 1);
  const startedAt = tickAt + 40 + 700 * random();
  const instance = random() < 0.5 ? WEB_1 : WEB_2;
  const isRetried = random() < 0.06 && error !== undefined;
  const failedAt = startedAt + tookMs / 3;
  const again = isRetried ? failedAt + MINUTE : startedAt;
  const completed = { startedAt: again, finishedAt: again + tookMs, instance };
  const failed = { startedAt, finishedAt: failedAt, error: errorOf(job, error), instance };
  return {
    ...{ job, kind, tickAt, state: 'completed', attempts: isRetried ? [failed, completed] : [completed] },
    result: counts === undefined ? undefined : { [counts]: Math.round(400 + 900 * random()) },
  };
}

/** As the job of that name throws it. */
function errorOf(job: string, message = '', name = 'Error'): string {
  return `${name}: ${message}\n    at run (/app/dist/jobs/${job}.js:48:11)`;
}

type Special = (rows: SampleRows, run: SampleRun, now: number) => void;

/** The runs that did not go as usual, by job, and by how many runs ago they were. */
const SPECIAL: Readonly<Record<string, Readonly<Record<number, Special>>>> = {
  'settle-card-payments': { 0: failTwice },
  'import-bank-statements': { 0: interrupt },
  'rebuild-search-index': { 0: leaveRunning },
  'close-day': { 6: runAgain },
  'send-invoices': { 2: () => {}, 10: () => {} },
  'refresh-materialized-views': { 0: deadlock },
};

function failTwice(rows: SampleRows, run: SampleRun): void {
  const { error: message } = SAMPLE_JOBS.find(({ name }) => name === run.job) ?? {};
  const [startedAt, tookMs, error] = [run.tickAt + 300, 21 * SECOND, errorOf(run.job, message)];
  const first = { startedAt, finishedAt: startedAt + tookMs, error, instance: WEB_1 };
  const secondAt = first.finishedAt + MINUTE;
  const second = { startedAt: secondAt, finishedAt: secondAt + tookMs, error, instance: WEB_2 };
  rows.run({ ...run, attempts: [first, second], state: 'failed', reason: 'exhausted', result: undefined });
}

/** Its process was killed after 20 s, and another instance has found its lease expired a minute later. */
function interrupt(rows: SampleRows, run: SampleRun): void {
  const startedAt = run.tickAt + 210;
  const attempts = [{ startedAt, finishedAt: startedAt + 20 * SECOND + MINUTE, instance: KILLED }];
  rows.run({ ...run, attempts, state: 'interrupted', reason: 'lease-ended', result: undefined });
}

function deadlock(rows: SampleRows, run: SampleRun): void {
  const error = errorOf(run.job, 'deadlock detected', 'DatabaseError');
  const attempts = run.attempts.map((attempt) => ({ ...attempt, error }));
  rows.run({ ...run, attempts, state: 'failed', reason: 'exhausted' });
}

/** If its tick was too long ago, an operator has run it again. */
function leaveRunning(rows: SampleRows, run: SampleRun, now: number): void {
  const isOfTick = now - run.tickAt < 70 * MINUTE;
  const startedAt = isOfTick ? run.tickAt + 300 : now - 6 * MINUTE;
  const generation = isOfTick ? 0 : 1;
  const attempts = [{ startedAt, generation, instance: WEB_2 }];
  const id = rows.run({ ...run, attempts, state: 'running', result: undefined });
  if (!isOfTick) {
    const by = { actor: 'tom', reason: 'new synonyms' };
    rows.rerun({ id, of: run, before: 'completed' }, startedAt - 20 * SECOND, by);
  }
  const total = 48_200;
  const done = Math.floor((total * (now - startedAt)) / (72 * MINUTE));
  const lines = `${done} of ${total} documents\n`;
  rows.insert('cronlatch_run_log', { run_id: id, generation, attempt: 1, at: now, lines, done, total });
  const lease = { locked_at: startedAt, fencing_token: startedAt, lock_until: now + MINUTE };
  rows.insert('shedlock', { name: run.job, locked_by: `${rows.owner(WEB_2)}/18`, ...lease });
}

/** It failed, and completed when an operator ran it again in the morning. */
function runAgain(rows: SampleRows, run: SampleRun): void {
  const [startedAt, againAt] = [run.tickAt + 380, run.tickAt + 330 * MINUTE];
  const { message, bookings, first, second } = closeDayLog(startedAt, againAt);
  const error = errorOf(run.job, message, 'FatalJobError');
  const failed = { startedAt, finishedAt: startedAt + 71 * SECOND, error, instance: WEB_1 };
  const completed = { startedAt: againAt, finishedAt: againAt + 2300, generation: 1, instance: WEB_2 };
  const id = rows.run({ ...run, attempts: [failed, completed], result: { bookings } });
  const by = { actor: 'anne', reason: 'bank sent the file again' };
  rows.rerun({ id, of: run, before: 'failed' }, againAt - 24 * SECOND, by);
  for (const [generation, [lines, at]] of [
    [first, failed.finishedAt] as const,
    [second, againAt] as const,
  ].entries())
    rows.insert('cronlatch_run_log', { run_id: id, generation, attempt: 1, at, lines });
}

function pauseReminders(rows: SampleRows, now: number): void {
  const [job, actor, at] = ['send-reminders', 'anne', now - 23 * MINUTE];
  const reason = 'mail provider asked us to stop, INC-4711';
  const lock = { name: job, locked_by: newHoldOwner(actor, reason, new Date(at)), locked_at: at };
  rows.insert('shedlock', { ...lock, lock_until: now + 62 * MINUTE, fencing_token: at });
  rows.act(at, { actor, verb: 'pause', job_name: job, lock_name: job, reason });
}

/** Numbers that look random, and are the same each time: mulberry32. */
function seeded(seed: number): Random {
  let state = seed * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
