/** One of the two processes that schedule the job of a row. It receives commands, and reports every run. */
import { setTimeout } from 'node:timers/promises';
import { setLogger, type ScheduledTask } from 'node-cron';
import { machineMs } from '../../test/processes/machine-time';
import { argument, send } from '../../test/processes/parent';
import { scheduleOf, type SideName } from './slots';
import { openCronlatch } from './cronlatch-side';
import type { Door, Job } from './door';
import { openNodeCron } from './node-cron-side';
import type { InstanceMessage, InstanceOrders, InstanceCommand } from './orders';

const DOORS: Readonly<Record<SideName, Door>> = { cronlatch: openCronlatch, 'node-cron+redis': openNodeCron };

/**
 * How long before the first fire the job is scheduled: too late for the fire before, which does not belong to
 * the row.
 */
const AHEAD_MS = 1000;

const orders = argument<InstanceOrders>();
const { row, side, instance } = orders;
const report = send<InstanceMessage>;
let runs = 0;

const job: Job = async ({ slotMs, signal }) => {
  const run = (runs += 1);
  let isCompleted = false;
  report({ event: 'begin', run, slotMs, atMs: machineMs() });
  try {
    await setTimeout(row.jobMs, undefined, signal && { signal });
    isCompleted = true;
  } finally {
    report({ event: 'end', run, isCompleted, atMs: machineMs() });
  }
};

async function main(): Promise<void> {
  // Silences its messages about ticks that come late or during a run.
  setLogger({ info() {}, warn() {}, error: console.error, debug() {} });
  const schedule = await DOORS[side](orders, job);
  let task: ScheduledTask | undefined;
  process.on('message', (message) => {
    const word = message as InstanceCommand;
    if (word.word === 'start') void start(schedule, word.slots).then((started) => (task = started));
    else if (task !== undefined) void obey(task, word.word);
  });
  report({ event: 'ready' });
}

async function start(schedule: () => ScheduledTask, slots: readonly number[]): Promise<ScheduledTask> {
  const [firstMs = NaN] = slots;
  await setTimeout(firstMs - AHEAD_MS - Date.now());
  const task = schedule();
  task.on('execution:started', ({ date }) =>
    report({ event: 'fired', slotMs: scheduleOf(row, side).slotAt(date.getTime()) }),
  );
  const { blow } = row;
  if (blow.kind === 'block' && instance === 'b') for (const slotMs of slots) void blockAt(slotMs, blow.ms);
  return task;
}

async function obey(task: ScheduledTask, word: Exclude<InstanceCommand['word'], 'start'>): Promise<void> {
  switch (word) {
    case 'stop':
      return await task.stop();
    case 'resume':
      return await task.start();
    case 'execute':
      await task.execute();
  }
}

/** From a little before the tick on, as a computation would. */
async function blockAt(slotMs: number, ms: number): Promise<void> {
  const fromMs = slotMs - 50;
  await setTimeout(fromMs - Date.now());
  while (Date.now() < fromMs + ms);
}

void main();
