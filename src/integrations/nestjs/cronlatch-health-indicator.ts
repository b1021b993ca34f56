import { CronlatchError, LockStorageError, type Duration } from '../../core';
import type { JobGuard } from '../../guard';

/** Fit for the eyes of strangers: codes and names, and no message of an error. */
export type CronlatchHealth = {
  /** `'down'` when the store of the locks cannot be asked, so that no job would run, and while the guard is closing. */
  readonly status: 'up' | 'down';
  readonly isClosing: boolean;
  /** Why the store cannot be asked: the driver's code where there is one, such as `ECONNREFUSED`. */
  readonly error?: string;
  /** The last job that did not run because its lock could not be asked for, since the start of the process. */
  readonly lastFailure?: { readonly name: string; readonly at: string; readonly error: string };
};

/**
 * What a health check is told of the guard, in the form that @nestjs/terminus takes:
 * `health.check([() => cronlatch.isHealthy()])`.
 */
export class CronlatchHealthIndicator {
  #lastFailure: CronlatchHealth['lastFailure'];

  constructor(private readonly guard: JobGuard) {
    guard.on('lock:failed', ({ name, error }) => {
      this.#lastFailure = { name, at: new Date().toISOString(), error: codeOf(error) };
    });
  }

  /**
   * Asks the store of the locks once. Never rejects.
   *
   * @param key names it in the answer
   * @param timeout how long the store has; shorter than the time that the prober waits
   */
  async isHealthy<Key extends string = 'cronlatch'>(
    key: Key = 'cronlatch' as Key,
    { timeout = '1s' }: { readonly timeout?: Duration } = {},
  ): Promise<Record<Key, CronlatchHealth>> {
    const { isClosing } = this.guard;
    const error = isClosing ? undefined : await this.#ask(timeout);
    const health: CronlatchHealth = {
      status: isClosing || error !== undefined ? 'down' : 'up',
      isClosing,
      ...(error === undefined ? {} : { error }),
      ...(this.#lastFailure === undefined ? {} : { lastFailure: this.#lastFailure }),
    };
    return { [key]: health } as Record<Key, CronlatchHealth>;
  }

  async #ask(timeout: Duration): Promise<string | undefined> {
    try {
      await this.guard.probe(timeout);
      return undefined;
    } catch (error) {
      return codeOf(error);
    }
  }
}

function codeOf(error: unknown): string {
  if (error instanceof LockStorageError) return error.driverCode ?? error.code;
  if (error instanceof CronlatchError) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
