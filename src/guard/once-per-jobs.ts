import {
  InvalidLockConfigurationError,
  type LockingTaskExecutor,
  type LockedTask,
  type LockProvider,
  type TaskResult,
} from '../core';
import type { OncePerConfiguration, RunKey } from '../ledger';
import { checkScopeName } from '../ledger/policy/job-policy';
import type { LedgerContext } from '../ledger/store-statements';
import { OncePerExecutor } from '../ledger/tick/once-per-executor';
import { newReport, type OncePerRequest, type Report } from '../ledger/tick/plan-tick';
import { hostTime } from '../ledger/tick/ledger-snapshot';
import type { OpenInvocation } from './invocation';
import { policyOf, type GuardConfiguration, type JobConfiguration } from './job-configuration';
import { RegisteredJobs, type RegisteredJob } from './registered-jobs';
import { UnansweredTicks } from './unanswered-ticks';

/** A configuration that says once per what. */
export type OncePerJobConfiguration = JobConfiguration & { readonly oncePer: OncePerConfiguration };

/** One call of a guarded handler. */
export interface GuardedCall<T> {
  /** The handler with the arguments of the call. */
  readonly task: LockedTask<T>;
  /** The arguments, for a scope that depends on them. */
  readonly args: readonly unknown[];
  /** The handler with other arguments, for a run that is brought back. */
  readonly call: (args: readonly unknown[]) => LockedTask<unknown>;
  /** Where the scheduled time comes from; it counts for one call per job and scope. */
  readonly invocation?: OpenInvocation | undefined;
}

/** The once-per jobs of one guard: their calls, those that can be brought back, and the ticks that were not answered. */
export class OncePerJobs {
  readonly registered = new RegisteredJobs();
  readonly unanswered = new UnansweredTicks();
  readonly #executor: OncePerExecutor;

  constructor(
    readonly context: LedgerContext,
    readonly lockExecutor: LockingTaskExecutor,
    lockProvider: LockProvider,
  ) {
    this.#executor = new OncePerExecutor(context, lockExecutor, lockProvider);
  }

  async run<T>(configuration: OncePerJobConfiguration, call: GuardedCall<T>): Promise<TaskResult<T>> {
    return await this.send(this.#tickOf(configuration, call));
  }

  #tickOf<T>(configuration: OncePerJobConfiguration, call: GuardedCall<T>): OncePerRequest<T> {
    const { at, scheduledAt, ...lock } = configuration;
    try {
      const request = this.#requestOf(lock, call, call.args);
      const isFirst = call.invocation?.serve(request.policy.job, request.scope) ?? true;
      const heard = hostTime(this.context.clock);
      return { ...request, at, scheduledAt: isFirst ? scheduledAt : undefined, heard, purpose: 'tick' };
    } catch (error) {
      const { name } = lock;
      this.context.events.emit('lock:failed', { name, scheduledAt, isAskedAgain: false, error });
      throw error;
    }
  }

  /**
   * Keeps a tick that its scheduler has dropped, like one that was not answered.
   *
   * @returns whether it is retried: the job is registered, and its scope is known
   */
  keepDropped(configuration: OncePerJobConfiguration, call: GuardedCall<unknown>['call']): boolean {
    try {
      const request = this.#tickOf(configuration, { task: call([]), args: [], call });
      if (request.isAskedAgain) this.#keep(request);
      return request.isAskedAgain;
    } catch {
      return false; // An event has reported it.
    }
  }

  /** Brings back what is owed of a registered job in one scope. */
  owedRequest({ configuration, call }: RegisteredJob, scope: string): OncePerRequest<unknown> {
    const idle: LockedTask<unknown> = () => undefined;
    const request = this.#requestOf(configuration, { task: idle, call }, undefined);
    return { ...request, scope, purpose: 'owed' };
  }

  /** A tick of a registered job that is not answered is kept. */
  async send<T>(request: OncePerRequest<T>, report: Report = newReport()): Promise<TaskResult<T>> {
    let result: TaskResult<T> | undefined;
    try {
      return (result = await this.#executor.run(request, report));
    } finally {
      const isClosing = result?.executed === false && result.reason === 'closing';
      const isOpen = !report.isAnswered && !report.isOver && !isClosing;
      if (request.isAskedAgain && request.purpose !== 'owed' && isOpen) this.#keep(request);
    }
  }

  #keep(request: OncePerRequest<unknown>): void {
    if (this.unanswered.keep(request)) return;
    const message =
      'More than 1,000 ticks wait to be asked again: the oldest is dropped, and its period is a gap.';
    this.context.events.emit('guard:warning', { message });
  }

  #requestOf<T>(
    configuration: GuardConfiguration,
    { task, call }: Pick<GuardedCall<T>, 'task' | 'call'>,
    args: readonly unknown[] | undefined,
  ): OncePerRequest<T> {
    const { oncePer, ...lock } = configuration;
    if (oncePer === undefined) throw new TypeError('The configuration does not say once per what.');
    const policy = policyOf(lock, oncePer);
    return {
      policy,
      lock,
      task,
      scope: args === undefined ? '' : scopeOf(oncePer, policy.job, args),
      resumed: (run: RunKey) => call(oncePer.resume?.(run) ?? []),
      purpose: 'tick',
      isAskedAgain: this.registered.get(policy.job) !== undefined,
    };
  }
}

/** @throws InvalidLockConfigurationError for what cannot be a scope, and when the function throws */
function scopeOf({ scope = '' }: OncePerConfiguration, job: string, args: readonly unknown[]): string {
  const named = typeof scope === 'string' ? scope : calledWith(scope, job, args);
  checkScopeName(named, job);
  return named;
}

function calledWith(scope: (...args: never[]) => string, job: string, args: readonly unknown[]): string {
  try {
    return scope(...(args as never[]));
  } catch (cause) {
    throw new InvalidLockConfigurationError(
      `The scope function of job '${job}' threw: it must return a scope for every call.`,
      { cause },
    );
  }
}
