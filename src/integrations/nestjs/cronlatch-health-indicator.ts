import { CronlatchError, LockStorageError, type Duration } from '../../core';
import type { JobGuard } from '../../guard';

/** Safe to publish: contains codes and names, but no error messages. */
export type CronlatchHealth = {
  /** `'down'` if the lock store is unreachable, so that no job would run, and while the guard is closing. */
  readonly status: 'up' | 'down';
  readonly isClosing: boolean;
  /** Why the lock store is unreachable: the driver's code if there is one, such as `ECONNREFUSED`. */
  readonly error?: string;
  /** The last job that could not start because of an error (`lock:failed`), since the start of the process. */
  readonly lastFailure?: { readonly name: string; readonly at: string; readonly error: string };
};

/** Reports the health of the guard in the form that @nestjs/terminus expects: `health.check([() => cronlatch.isHealthy()])`. */
export class CronlatchHealthIndicator {
  #lastFailure: CronlatchHealth['lastFailure'];

  constructor(private readonly guard: JobGuard) {
    guard.on('lock:failed', ({ name, error }) => {
      this.#lastFailure = { name, at: new Date().toISOString(), error: codeOf(error) };
    });
  }

  /**
   * Sends one query to the lock store. Never rejects.
   *
   * @param key the key of the health indicator in the result
   * @param options.timeout how long the store may take, default 1 s. It must be shorter than the timeout of the prober
   */
  async isHealthy<Key extends string = 'cronlatch'>(
    key: Key = 'cronlatch' as Key,
    { timeout = '1s' }: { readonly timeout?: Duration } = {},
  ): Promise<Record<Key, CronlatchHealth>> {
    const { isClosing } = this.guard;
    const error = isClosing ? undefined : await this.guard.probe(timeout).then(() => undefined, codeOf);
    const health: CronlatchHealth = {
      status: isClosing || error !== undefined ? 'down' : 'up',
      isClosing,
      ...(error === undefined ? {} : { error }),
      ...(this.#lastFailure === undefined ? {} : { lastFailure: this.#lastFailure }),
    };
    return { [key]: health } as Record<Key, CronlatchHealth>;
  }
}

function codeOf(error: unknown): string {
  if (error instanceof LockStorageError) return error.driverCode ?? error.code;
  if (error instanceof CronlatchError) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
