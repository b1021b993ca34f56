import { createJobGuard, createTables } from 'cronlatch/better-sqlite3';
import { newHoldOwner } from '#cronlatch/core/lease/hold-owner';
import { periodAt } from '#cronlatch/ledger/periods/period';
import { Schedule } from '#cronlatch/ledger/periods/schedule';
import { closeDayLog } from './close-day-log';
import { SAMPLE_JOBS, TIME_ZONE, type SampleJob } from './sample-jobs';
import { SampleRows, us, type SampleAttempt, type SampleRun } from './sample-rows';

const [SECOND, MINUTE, DAY] = [1000, 60_000, 86_400_000];
/** A run that was due later than this may not have ended. */
const SETTLED_MS = 15 * MINUTE;
/** A guard keeps no more runs of a once-per-tick job. */
const MOST_TICKS = 1000;
const INSTANCES = ['web-1/2708', 'web-2/2710'];
const CRASHED = 'web-2/2710';
const LEASE_MS = MINUTE;

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
    for (const [index, job] of SAMPLE_JOBS.entries()) fillJob(rows, job, { now, random: seeded(index + 1) });
    pauseReminders(rows, now);
    rows.change('UPDATE cronlatch_job SET declared_at = ?', us(now - 90 * DAY));
  });
  rows.close();
  refreshSample(file);
}

/** What living instances go on writing: that they are there, and that the rebuild still has its lock. */
export function refreshSample(file: string): void {
  const rows = new SampleRows(file);
  const now = us(Date.now());
  const registered = 'UPDATE cronlatch_job SET answered_at = ?, registered_at = ?, registered_by = ?';
  rows.change(registered, now, now, INSTANCES[0]!);
  const held = `UPDATE shedlock SET lock_until = ? WHERE name = 'rebuild-search-index'`;
  rows.change(held, us(Date.now() + LEASE_MS));
  rows.close();
}

async function declareJobs(file: string): Promise<void> {
  const options = { pollInterval: false, logger: false, defaultTimeZone: TIME_ZONE } as const;
  const guard = await createJobGuard(`sqlite:${file}`, options);
  for (const { configuration, schedule } of SAMPLE_JOBS)
    guard.wrap(configuration, () => {}, {
      schedule:
        typeof schedule === 'number' ? { every: schedule } : { expression: schedule, timeZone: TIME_ZONE },
    });
  await guard.close();
}

interface Moment {
  readonly now: number;
  /** @returns at least 0, and less than 1 */
  readonly random: () => number;
}

function fillJob(rows: SampleRows, job: SampleJob, { now, random }: Moment): void {
  const { name, oncePer } = job.configuration;
  if (job.usualMs === undefined || oncePer === undefined || typeof oncePer.period === 'function') return;
  const kind = oncePer.period;
  const ticks = ticksOf(job, now).slice(kind === 'tick' ? -MOST_TICKS : 0);
  for (const [index, tickAt] of ticks.entries()) {
    const daysAgo = ticks.length - 1 - index;
    const run = usualRun({ name, kind, ...job, usualMs: job.usualMs }, tickAt, random);
    const special = SPECIAL[name]?.[daysAgo];
    if (special === undefined) rows.run(run);
    else special(rows, run, now);
  }
}

/** Those of ninety days, the earliest first. */
function ticksOf({ schedule }: SampleJob, now: number): number[] {
  if (typeof schedule === 'number') {
    const newest = now - SECOND - (now % schedule);
    return Array.from({ length: MOST_TICKS }, (_, back) => newest - back * schedule).reverse();
  }
  const times = Schedule.of([{ expression: schedule, timeZone: TIME_ZONE, dialect: 'croner' }]);
  const from = new Date(now - 90 * DAY);
  return (times?.following(from, 90 * 24) ?? [])
    .map((at) => at.getTime())
    .filter((at) => at < now - SETTLED_MS);
}

type Usual = Pick<SampleRun, 'kind'> &
  Pick<SampleJob, 'counts' | 'error'> & { readonly name: string; readonly usualMs: number };

/** One in 20 takes twice as long, and if the job can fail, one in 25 needs a second attempt. */
function usualRun(
  { name, kind, usualMs, counts, error }: Usual,
  tickAt: number,
  random: Moment['random'],
): SampleRun {
  const tookMs = usualMs * (0.8 + 0.4 * random()) * (random() < 0.05 ? 2 : 1);
  const startedAt = tickAt + 40 + 700 * random();
  const instance = INSTANCES[random() < 0.5 ? 0 : 1]!;
  const failed = { startedAt, finishedAt: startedAt + tookMs * 0.3, error: stackOf(error ?? ''), instance };
  const isRetried = random() < 0.04 && error !== undefined;
  const begin = isRetried ? failed.finishedAt + MINUTE : startedAt;
  const completed = { startedAt: begin, finishedAt: begin + tookMs, instance };
  return {
    ...{ job: name, kind, tickAt, state: 'completed' },
    attempts: isRetried ? [failed, completed] : [completed],
    ...(counts && { result: { [counts]: Math.round(400 + 900 * random()) } }),
  };
}

function stackOf(message: string, name = 'Error'): string {
  return `${name}: ${message}\n    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)`;
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
  const error = stackOf(SAMPLE_JOBS.find(({ configuration }) => configuration.name === run.job)?.error ?? '');
  const attempts = [0, MINUTE + 21 * SECOND].map((after, index): SampleAttempt => {
    const startedAt = run.tickAt + 300 + after;
    return { startedAt, finishedAt: startedAt + 21 * SECOND, error, instance: INSTANCES[index]! };
  });
  rows.run({ ...run, attempts, state: 'failed', reason: 'exhausted', result: undefined });
}

/** Its process was killed after 20 s, and another instance has seen that its lease has ended. */
function interrupt(rows: SampleRows, run: SampleRun): void {
  const startedAt = run.tickAt + 210;
  const attempts = [{ startedAt, finishedAt: startedAt + 20 * SECOND + LEASE_MS, instance: CRASHED }];
  rows.run({ ...run, attempts, state: 'interrupted', reason: 'lease-ended', result: undefined });
}

function deadlock(rows: SampleRows, run: SampleRun): void {
  const [attempt] = run.attempts;
  const attempts = [{ ...attempt!, error: stackOf('deadlock detected', 'DatabaseError') }];
  rows.run({ ...run, attempts, state: 'failed', reason: 'exhausted', result: undefined });
}

/** If its tick was earlier, an operator has run it again. */
function leaveRunning(rows: SampleRows, run: SampleRun, now: number): void {
  const isOfTick = now - run.tickAt < 80 * MINUTE;
  const startedAt = isOfTick ? run.tickAt + 300 : now - 6 * MINUTE;
  const attempt = { startedAt, instance: CRASHED };
  const attempts = isOfTick ? [attempt] : [{ ...attempt, generation: 1 }];
  const id = rows.run({ ...run, attempts, state: 'running', result: undefined });
  const total = 48_200;
  const done = Math.floor((total * (now - startedAt)) / (72 * MINUTE));
  const generation = isOfTick ? 0 : 1;
  rows.log(id, [`${done} of ${total} documents`], { at: now, generation, progress: [done, total] });
  rows.lock(run.job, `${rows.owner(CRASHED)}/18`, startedAt, now + LEASE_MS);
  if (isOfTick) return;
  const act = { at: startedAt - 20 * SECOND, actor: 'tom', verb: 'rerun', reason: 'new synonyms' };
  rows.act({ ...act, job: run.job, period: keyOf(run) }, { id, state: 'completed' });
}

/** It failed, and completed when an operator ran it again in the morning. */
function runAgain(rows: SampleRows, run: SampleRun): void {
  const startedAt = run.tickAt + 380;
  const failedAt = startedAt + 71 * SECOND;
  const againAt = run.tickAt + 5.5 * 60 * MINUTE;
  const { error, first, second } = closeDayLog(startedAt, againAt);
  const attempts = [
    { startedAt, finishedAt: failedAt, error: stackOf(error, 'FatalJobError'), instance: INSTANCES[0]! },
    { startedAt: againAt, finishedAt: againAt + 2300, generation: 1, instance: INSTANCES[1]! },
  ];
  const id = rows.run({ ...run, attempts });
  const act = { at: againAt - 24 * SECOND, actor: 'anne', verb: 'rerun', reason: 'bank sent the file again' };
  rows.act({ ...act, job: run.job, period: keyOf(run) }, { id, state: 'failed' });
  rows.log(id, first, { at: failedAt });
  rows.log(id, second, { at: againAt + 2300, generation: 1 });
}

function pauseReminders(rows: SampleRows, now: number): void {
  const [job, actor, at] = ['send-reminders', 'anne', now - 23 * MINUTE];
  const reason = 'mail provider asked us to stop, INC-4711';
  rows.lock(job, newHoldOwner(actor, reason, new Date(at)), at, now + 62 * MINUTE);
  rows.act({ at, actor, verb: 'pause', job, lock: job, reason });
}

function keyOf({ tickAt, kind }: SampleRun): string {
  return periodAt(new Date(tickAt), { kind, timeZone: TIME_ZONE }).key;
}

/** Numbers that look random, and are the same each time: mulberry32. */
function seeded(seed: number): () => number {
  let state = seed * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
