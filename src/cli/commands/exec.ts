import { Option, type Command } from 'commander';
import { AsyncLocalStorage } from 'node:async_hooks';
import { constants } from 'node:os';
import { LockLostError, type Lock } from '../../core';
import { describeValue } from '../../core/options';
import { parsePositiveDuration } from '../../core/duration';
import type { JobGuard } from '../../guard';
import { callsOf } from '../../guard/calls/calls';
import { describeError, logMessage } from '../../guard/log/logger';
import { DIALECTS, type Dialect } from '../../ledger/periods/schedule-expression';
import { currentRun, type CurrentRun, type OncePerConfiguration, type PeriodKind } from '../../ledger';
import { ChildRunner } from '../child-runner';
import { EXIT, EXIT_AFTER, UsageError } from '../failure';
import { withGuard } from '../guard-command';
import { addGuardSource, instantOf, type Options } from '../options';
import { io, printNote, printWarning } from '../terminal';

interface ExecOptions extends Options {
  readonly name: string;
  readonly atMost: string;
  readonly atLeast?: string;
  readonly keepAlive: boolean;
  readonly oncePer?: PeriodKind;
  readonly timeZone?: string;
  readonly cron?: string;
  readonly dialect: Dialect;
  readonly scheduledAt?: Date;
  /** The minute at the end of the name. */
  readonly jobName?: Date;
  readonly killAfter: number;
  readonly conflictExitCode?: number;
  readonly quiet?: boolean;
}

/** The child has failed. Its run counts as failed, and its exit status becomes that of the command. */
class ChildFailedError extends Error {}

/** `cronlatch exec`: runs a program under the guard, for a Unix cron or a CronJob of Kubernetes. */
export function addExecCommand(program: Command): void {
  const period = new Option('--once-per <period>', 'run once in each period, as the ledger records it');
  const scheduledAt = new Option('--scheduled-at <instant>', 'the scheduled time, which decides the period');
  const killAfter = new Option(
    '--kill-after <duration>',
    'time between SIGTERM and SIGKILL if the lock is lost',
  );
  const dialect = new Option('--dialect <name>', 'who reads the expression of --cron');
  addGuardSource(program.command('exec').description('run a program on one instance at a time'))
    .argument('<command...>', 'the program and its arguments')
    .passThroughOptions()
    .requiredOption('--name <lock>', 'name of the lock, and of the job')
    .requiredOption('--at-most <duration>', 'how long a crashed instance blocks the next run, such as 10m')
    .option('--at-least <duration>', 'how long the lock is kept at least')
    .option('--no-keep-alive', 'do not renew the lock while the program runs')
    .addOption(period.choices(['tick', 'hour', 'day', 'week', 'month'] satisfies PeriodKind[]))
    .option('--time-zone <zone>', 'time zone of the periods and of --cron, such as Europe/Paris')
    .option('--cron <expression>', 'schedule of the calls, with which status finds late and missed ones')
    .addOption(dialect.choices(DIALECTS).default('unix'))
    .addOption(scheduledAt.argParser(scheduledTimeOf).conflicts('jobName'))
    .option('--job-name <name>', 'name of a Kubernetes Job, which ends in its minute', scheduledMinuteOf)
    .addOption(
      killAfter.default(10_000, '10s').argParser((text) => parsePositiveDuration(text, '--kill-after')),
    )
    .option('-E, --conflict-exit-code <number>', 'exit code if another instance has the lock', statusOf)
    .option('-q, --quiet', 'print nothing if the program is skipped')
    .action(withGuard(exec));
}

async function exec(guard: JobGuard, options: ExecOptions, ...command: string[]): Promise<void> {
  const { name, atMost: lockAtMostFor, atLeast: lockAtLeastFor, keepAlive, killAfter, quiet } = options;
  const oncePer = oncePerOf(options);
  const scheduledAt = options.scheduledAt ?? options.jobName;
  const children = new ChildRunner(killAfter);
  // A closing guard starts nothing more, and keeps the lock until the child has ended.
  children.listen(() => void guard.close({ timeout: '365d', grace: 0 }));
  // Jobs of the application must not start here.
  const own = new AsyncLocalStorage<true>();
  callsOf(guard).parts.registry.isEnabled = () => own.getStore() === true;
  let skip: string | undefined;
  let hasRun = false;
  for (const skipped of ['lock:skipped', 'run:skipped'] as const)
    guard.on(skipped, (event) => {
      // This process ends, so the next call is the retry.
      if (event.name === name) skip ??= logMessage(skipped, { ...event, willRetry: false });
    });
  if (options.app === undefined) printEvents(guard);
  const failures: number[] = [];
  const task = async (lock: Lock): Promise<void> => {
    const run = oncePer && currentRun();
    if (children.received !== undefined) return run?.giveBack();
    const env = { ...io.env, ...environmentOf(lock, scheduledAt, run) };
    hasRun = true;
    const status = await children.run(command, env, lock.signal);
    if (lock.signal.reason instanceof LockLostError) throw lock.signal.reason;
    if (status === 0) return;
    failures.push(status);
    throw new ChildFailedError(`The command ended with status ${status}.`);
  };
  const { cron: expression, timeZone, dialect } = options;
  const schedules = expression === undefined ? [] : [{ expression, timeZone, dialect }];
  const configuration = { name, lockAtMostFor, lockAtLeastFor, keepAlive, oncePer };
  // An application registers its own jobs.
  if (options.app === undefined && (oncePer ?? expression) !== undefined) {
    const declaration = { place: 'exec', configuration, call: () => task, schedules };
    callsOf(guard).admit([{ ...declaration, takesNewestTime: true }]);
  }
  try {
    const result = await own.run(true, () => guard.run({ ...configuration, scheduledAt }, task));
    if (!result.executed && result.reason !== 'closing') {
      if (!quiet) printNote(skip ?? `job '${name}' skipped: ${result.reason}`);
      // The run that holds the lock answers a tick, too.
      const isDue = oncePer !== undefined && oncePer.period !== 'tick';
      const otherwise = options.conflictExitCode ?? (isDue ? EXIT.stillDue : EXIT.done);
      io.exitCode = EXIT_AFTER[result.reason] ?? otherwise;
    }
  } catch (error) {
    if (!(error instanceof ChildFailedError)) throw error;
  }
  // The call also runs other overdue periods of the job.
  const [failure] = failures;
  if (failure !== undefined) io.exitCode = failure;
  else if (children.received !== undefined && !hasRun)
    io.exitCode = 128 + constants.signals[children.received];
}

/** @throws UsageError */
function oncePerOf({ oncePer: period, timeZone, app, cron }: ExecOptions): OncePerConfiguration | undefined {
  // The guard of an application can have a default time zone.
  const needsZone = period !== undefined && period !== 'tick';
  if (period !== undefined && (!needsZone || (timeZone ?? app) !== undefined)) return { period, timeZone };
  if (period !== undefined) throw new UsageError('--once-per needs --time-zone, for example Europe/Paris.');
  if (timeZone === undefined || cron !== undefined) return undefined;
  throw new UsageError('--time-zone has no meaning without --once-per or --cron.');
}

/** @throws UsageError */
function scheduledTimeOf(text: string): Date {
  return nearNow(instantOf(text, '--scheduled-at'), `--scheduled-at is ${describeValue(text)}`);
}

/**
 * Kubernetes ends the name of a Job with its scheduled minute, counted from 1970. A Job created by hand has another name.
 *
 * @throws UsageError if that minute is not near: `-20261124` is a date, and would be a minute of the year 2008
 */
function scheduledMinuteOf(jobName: string): Date | undefined {
  const [, minutes] = /-(\d{8})$/.exec(jobName) ?? [];
  if (minutes === undefined) return undefined;
  const minute = new Date(Number(minutes) * 60_000);
  const text = `${minute.toISOString().slice(0, 16)}Z`;
  return nearNow(minute, `--job-name is ${describeValue(jobName)}, which ends in the minute ${text}`);
}

/**
 * @param given the option and its value, for the message
 * @throws UsageError for a time that no scheduler means: the program would run for a wrong day
 */
function nearNow(scheduledAt: Date, given: string): Date {
  const aheadMs = scheduledAt.getTime() - Date.now();
  if (aheadMs >= -31 * 86_400_000 && aheadMs <= 300_000) return scheduledAt;
  const where = aheadMs > 0 ? 'five minutes ahead of' : '31 days behind';
  throw new UsageError(
    `${given}, more than ${where} the clock of this host. Nothing has run. Pass the scheduled time as --scheduled-at, or give the Job a name that does not end in eight digits. For older days, use cronlatch run JOB --from DATE --to DATE.`,
  );
}

/** A variable without a value is removed, because this process may itself be such a program. */
function environmentOf(
  lock: Lock,
  scheduledAt: Date | undefined,
  run: CurrentRun | undefined,
): NodeJS.ProcessEnv {
  return {
    CRONLATCH_LOCK: lock.name,
    CRONLATCH_FENCING_TOKEN: lock.fencingToken?.toString(),
    CRONLATCH_SCHEDULED_AT: (run === undefined ? scheduledAt : run.scheduledAt)?.toISOString(),
    CRONLATCH_BUSINESS_DATE: run?.businessDate,
    CRONLATCH_PERIOD_KEY: run?.periodKey,
    CRONLATCH_ATTEMPT: run?.attempt.toString(),
    CRONLATCH_IDEMPOTENCY_KEY: run?.idempotencyKey,
  };
}

/** The guard of this command logs nothing itself. A cron mails what is printed here. */
function printEvents(guard: JobGuard): void {
  guard.on('guard:warning', ({ message, error }) =>
    printWarning(error === undefined ? message : `${message} Cause: ${describeError(error)}`),
  );
  guard.on('run:takenOver', (event) => printNote(logMessage('run:takenOver', event)));
  guard.on('run:failed', (event) => {
    if (event.run !== undefined) printNote(logMessage('run:failed', event));
  });
}

/** @throws UsageError */
function statusOf(text: string): number {
  const status = /^\d{1,3}$/.test(text) ? Number(text) : NaN;
  if (status <= 255) return status;
  throw new UsageError(`--conflict-exit-code is ${describeValue(text)}: use a number from 0 to 255.`);
}
