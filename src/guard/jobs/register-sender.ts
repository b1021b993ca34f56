import { LockStorageError, SchemaMismatchError } from '../../core';
import type { LastRunChange, RunStore } from '../../ledger';
import { limitOf, pauseAfter, type LedgerContext } from '../../ledger/store-statements';

const MOST_TRIES = 4;

/** A run store with a register of jobs. */
export type RegisteringStore = RunStore & Required<Pick<RunStore, 'registerJobs' | 'jobs' | 'updateJobs'>>;

export function hasRegister(store: RunStore): store is RegisteringStore {
  return store.registerJobs !== undefined && store.jobs !== undefined && store.updateJobs !== undefined;
}

/** The context of a register. */
export interface RegisterContext extends LedgerContext {
  readonly store: RegisteringStore;
  /** How long a scheduled time may have passed before its job is overdue. */
  readonly overdueAfterMs: number;
}

/** A run that has ended. Its times are monotonic. */
interface EndedRun extends Pick<LastRunChange, 'job' | 'outcome' | 'holder'> {
  readonly startedAtMs: number;
  readonly durationMs: number;
}

/** Sends the statements of a register. A failure that lasts is reported once. */
export class RegisterSender {
  readonly #recording = new Set<Promise<void>>();
  #hasFailed = false;

  constructor(private readonly context: RegisterContext) {}

  /** Resolves when no run is left to record. */
  get recorded(): Promise<unknown> {
    return Promise.all(this.#recording);
  }

  /**
   * Records the last run of a job, without waiting for it.
   *
   * @param registering resolves when the job is registered
   */
  recordRun(registering: Promise<void> | undefined, { startedAtMs, durationMs, ...run }: EndedRun): void {
    const { clock, store, events } = this.context;
    const record = async (): Promise<void> => {
      await registering;
      const startedMsAgo = clock.monotonicMs() - startedAtMs;
      const change = { ...run, startedMsAgo, finishedMsAgo: startedMsAgo - durationMs };
      await this.send(() => store.updateJobs([change], limitOf(this.context)));
    };
    const message = `Could not record the last run of job '${run.job}'.`;
    const recording = record().catch((error: unknown) => {
      // A missing table has been reported when the job was registered.
      if (!this.#hasFailed || !(error instanceof SchemaMismatchError))
        events.emit('guard:warning', { message, error });
    });
    this.#recording.add(recording);
    void recording.then(() => this.#recording.delete(recording));
  }

  /** Sends a statement, and again if other transactions were in its way. */
  async send(statement: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await statement();
        this.#hasFailed = false;
        return;
      } catch (error) {
        const isContention = error instanceof LockStorageError && error.outcome === 'contention';
        if (!isContention || tries === MOST_TRIES) throw error;
        await pauseAfter(this.context, tries);
      }
    }
  }

  /** Reports the failure of `act`. */
  async attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (this.#hasFailed) return;
      this.#hasFailed = true;
      const { events } = this.context;
      if (error instanceof SchemaMismatchError)
        events.emit('guard:warning', { message: `The jobs are not registered. ${error.message}` });
      else
        events.emit('guard:warning', {
          message: 'Could not update the register of jobs. The guard will try again at the next poll.',
          error,
        });
    }
  }
}
