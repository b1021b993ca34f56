import { InvalidLockConfigurationError } from '../../core';
import { callOption, describeValue } from '../../core/options';
import { renameLock, type CompiledLock } from '../../core/lock-configuration';
import type {
  GuardConfiguration,
  LabelledConfiguration,
  LockByArguments,
  MethodOptions,
} from './job-guard-options';

type Named = GuardConfiguration<[jobs: never]>;
type NamedBy<A extends unknown[]> = LockByArguments<A, [jobs: never]>;

/**
 * Replaces a name function by a label, by default the name of the handler, so that all other code can rely on a name.
 */
export function labelled<A extends unknown[]>(
  configuration: (Named | NamedBy<A>) & MethodOptions,
  handlerName: string,
): LabelledConfiguration & MethodOptions {
  if (!isNamedByArguments(configuration)) return configuration;
  const { name, label = handlerName, ...others } = configuration;
  return { ...others, name: label, nameOf: (...args: unknown[]) => name(...(args as A)) };
}

function isNamedByArguments<A extends unknown[]>(
  configuration: Named | NamedBy<A>,
): configuration is NamedBy<A> {
  return typeof configuration.name === 'function';
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
