import { InvalidLockUseError, NotConfiguredError } from '../core';
import { describeValue } from '../core/describe-value';
import { processState } from '../core/process-state';
import { boundGuard, isAnotherInUse, isOnOwnInstance } from './bound-guard';
import { declaredConfigurations, type JobDefinition } from './guarded-method';
import { integrationOf, isJobGuard, type JobGuard } from './job-guard';

const state = processState<{ configured: JobGuard | undefined }>('guards', () => ({ configured: undefined }));

/**
 * Makes `guard` the one of every guarded method whose instance was not scheduled with another. `undefined` takes it away.
 *
 * @throws InvalidLockUseError when there is one already that is not closed, and `replace` is not set
 * @throws InvalidLockConfigurationError when a method that was decorated so far cannot run under it
 */
export function configureJobGuard(
  guard: JobGuard | undefined,
  { replace = false }: { replace?: boolean } = {},
): void {
  if (guard !== undefined) refuseOther(guard, 'configureJobGuard');
  const before = state.configured;
  if (guard !== undefined && before !== undefined && before !== guard && !before.isClosing && !replace) {
    throw new InvalidLockUseError(
      'A job guard is configured already. Pass { replace: true } to configureJobGuard if that is meant.',
    );
  }
  if (guard !== undefined) {
    const integration = integrationOf(guard);
    for (const configuration of declaredConfigurations()) integration.jobOf(configuration);
  }
  state.configured = guard;
}

/** In JavaScript, a guard that nobody awaited is a promise. */
function refuseOther(guard: JobGuard, caller: string): void {
  if (isJobGuard(guard)) return;
  throw new InvalidLockUseError(
    `${caller} was given ${describeValue(guard)} for a guard. Await it: await createJobGuard(dataSource).`,
  );
}

export function configuredGuard(): JobGuard | undefined {
  return state.configured;
}

/**
 * @param caller names the function that needs a guard, for messages
 * @throws NotConfiguredError when there is none
 * @throws InvalidLockUseError when it is closed
 */
export function requiredGuard(given: JobGuard | undefined, caller: string): JobGuard {
  const guard = given ?? state.configured;
  if (guard !== undefined) refuseOther(guard, caller);
  if (guard?.isClosing)
    throw new InvalidLockUseError(`${caller}: the guard is closed, so that nothing would ever run.`);
  if (guard !== undefined) return guard;
  throw new NotConfiguredError(
    `${caller} has no guard: pass { guard }, or call configureJobGuard(await createJobGuard(dataSource)) first.`,
  );
}

/**
 * @throws NotConfiguredError that says how to configure one
 * @throws InvalidLockUseError for a call without its instance, if that instance may belong to another guard
 */
export function guardOf(instance: unknown, definition: JobDefinition, lockName: string): JobGuard {
  const bound = boundGuard(instance, definition);
  const guard = bound ?? state.configured;
  if (
    guard !== undefined &&
    bound === undefined &&
    isAnotherInUse(guard) &&
    !isOnOwnInstance(instance, definition)
  )
    throw new InvalidLockUseError(
      `The job with lock '${lockName}' did not run: this process has more than one guard, and the method was called without its instance. Call it on the instance, as in () => jobs.method().`,
    );
  if (guard !== undefined) return guard;
  throw new NotConfiguredError(
    `The job with lock '${lockName}' was called, but no guard is configured, so it did not run. ` +
      `Call configureJobGuard(await createJobGuard(dataSource)) at start, or schedule the instance with scheduleJobs(instance, { guard }).`,
  );
}
