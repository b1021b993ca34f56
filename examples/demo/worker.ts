/** One of the four processes: an application that schedules a job, and reports its outcomes. */
import { Day } from './day';
import { scheduleGuarded, type Guarded } from './guarded-job';
import { Reporter } from './reporter';
import { scheduleUnguarded } from './unguarded-job';

async function main(): Promise<void> {
  // The parent has ended, so no process would stop this worker.
  process.once('disconnect', () => process.exit(1));
  const reporter = new Reporter(required('DEMO_WORKER'), required('DEMO_WITNESS_FILE'));
  const guarded = readGuarded();
  const tasks =
    guarded === undefined ? scheduleUnguarded(reporter) : await scheduleGuarded(guarded, reporter);
  for (const task of tasks) {
    // The scheduler's own event, before the guard takes the lock.
    task.on('execution:started', ({ date }) => reporter.report('fired', date));
    task.on('execution:missed', ({ date }) => reporter.report('missed', date));
  }
  reporter.ready();
}

function readGuarded(): Guarded | undefined {
  const day = process.env['DEMO_DAY'];
  return day === undefined ? undefined : { address: required('DEMO_DATABASE'), day: new Day(new Date(day)) };
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing: workers are started by the demo's main.js.`);
  return value;
}

if (require.main === module) void main();
