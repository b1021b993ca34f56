/** The name and the times of a job's lock can be functions: of the arguments of a call, and of an instance. */
import { InvalidLockConfigurationError, type Duration, type LockConfiguration } from '../../core';
import { parseDuration } from '../../core/duration';
import { callOption, describeValue } from '../../core/options';
import { renameLock, type CompiledLock } from '../../core/lock-configuration';
import type {
  GuardConfiguration,
  JobLock,
  LabelledConfiguration,
  LockByArguments,
  MethodOptions,
} from './job-guard-options';

/** Replaces a name function by a label, by default the name of the handler, so that all other code can rely on a name. */
export function labelled<A extends unknown[]>(
  configuration: (GuardConfiguration<[jobs: never]> | LockByArguments<A, [jobs: never]>) & MethodOptions,
  handlerName: string,
): LabelledConfiguration & MethodOptions {
  const { name, ...others } = configuration;
  if (typeof name !== 'function') return { ...others, name };
  const { label = handlerName, ...lock } = others as Omit<LockByArguments<A>, 'name'> & MethodOptions;
  return { ...lock, name: label, nameOf: (...args: unknown[]) => name(...(args as A)) };
}

/** @throws InvalidLockConfigurationError if the name function throws or returns an invalid name */
export function lockOf(
  lock: CompiledLock,
  nameOf: (...args: never[]) => unknown,
  args: readonly unknown[],
): CompiledLock {
  const name = callOption(
    () => nameOf(...(args as never[])),
    `The name function of job '${lock.name}' threw an error, so the job did not run. It must return a name for every call.`,
  );
  try {
    return renameLock(lock, name);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidLockConfigurationError(
      `The name function of job '${lock.name}' returned ${describeValue(name)}, so the job did not run. ${why}`,
      { cause },
    );
  }
}

type TimedLock = JobLock<[jobs: never]>;
const TIMES = ['lockAtMostFor', 'lockAtLeastFor'] as const;

export function hasTimeFunctions(lock: TimedLock): boolean {
  return TIMES.some((option) => typeof lock[option] === 'function');
}

/** @throws InvalidLockConfigurationError naming the job and the option, if a function throws or returns no duration */
export function withReturnedTimes(lock: TimedLock, job: string, instance: unknown): LockConfiguration {
  return withTimes(lock, (time, option) => {
    const what = `${option} of job '${job}'`;
    const failed = `${what} threw an error. The function must return a duration, such as '10m'.`;
    const returned = callOption(() => time(instance as never), failed);
    parseDuration(returned, `${what}, returned by its function,`);
    return returned;
  });
}

/** @param call returns the time of a function. Default: it is left out. */
export function withTimes(
  lock: TimedLock,
  call: (time: (jobs: never) => Duration, option: string) => Duration | undefined = () => undefined,
): LockConfiguration {
  const [lockAtMostFor, lockAtLeastFor] = TIMES.map((option) => {
    const time = lock[option];
    return typeof time === 'function' ? call(time, option) : time;
  });
  return { ...lock, lockAtMostFor, lockAtLeastFor };
}
