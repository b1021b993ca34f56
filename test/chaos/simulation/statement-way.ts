import { LockStorageError } from 'cronlatch';
import type { Random } from '#cronlatch/contracts/random';
import type { History } from '../history/history';
import { LATEST_MS, type Fate, type Faults } from './faults';
import type { Scheduler } from './scheduler';
import type { SimulatedDatabase } from './simulated-database';
import type { SimulatedHost } from './simulated-host';

export interface World {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly history: History;
  readonly database: SimulatedDatabase;
}

type StorageOutcome = LockStorageError['outcome'];

export interface SentStatement<T> {
  readonly timeoutMs: number;
  /** Whether it may wait at the server for another transaction, and then keeps the time of its arrival. */
  readonly mayWait: boolean;
  /**
   * A transaction in which the client decides: it is rolled back if the client has abandoned it or has died.
   */
  readonly endsWithClient: boolean;
  readonly run: () => Promise<T>;
  /** It was committed at this time and position in the history; the host gets the answer now. */
  readonly answered: (value: T, committed: { readonly atMs: number; readonly order: number }) => void;
  readonly failed: (outcome: StorageOutcome) => void;
}

interface Server {
  readonly execute: (nowMs: number, tells: boolean) => Promise<void>;
  readonly fail: (outcome: StorageOutcome) => void;
}

/** A host's connection to the database: every message takes time, and may fail. */
export class StatementWay {
  constructor(
    private readonly world: World,
    private readonly host: SimulatedHost,
    private readonly keepsTimeLimits: boolean,
  ) {}

  send<T>({
    timeoutMs,
    mayWait,
    endsWithClient,
    run,
    answered: answered,
    failed,
  }: SentStatement<T>): Promise<T> {
    const { history, scheduler, faults } = this.world;
    return new Promise((resolve, reject) => {
      let settled = false;
      const settle = (how: () => void): void => {
        if (!settled) how();
        settled = true;
      };
      const fail = (outcome: StorageOutcome): void =>
        settle(() => {
          failed(outcome);
          reject(new LockStorageError('simulated', { outcome }));
        });
      const giveUp = (): void => (this.keepsTimeLimits ? fail('unknown') : settle(() => {}));
      // If it exceeds its time limit, the core abandons it a millisecond later.
      this.host.schedule(this.keepsTimeLimits ? timeoutMs : 2 * timeoutMs + 999, giveUp);
      const reply = (inMs: number, how: () => void): void =>
        void scheduler.after(inMs, () => this.host.receive(how));
      const execute = async (nowMs: number, tells: boolean): Promise<void> => {
        if (endsWithClient && (settled || this.host.crashed)) return;
        const order = history.nextOrder();
        const how = await this.world.database.at(nowMs, run).then(
          (value) => () => {
            answered(value, { atMs: nowMs, order });
            resolve(value);
          },
          // A decision has refused to change the run, so nothing ran.
          (error: Error) => () => {
            failed('nothing-ran');
            reject(error);
          },
        );
        if (tells) reply(faults.wayMs(), () => settle(how));
      };
      const latestMs = endsWithClient ? timeoutMs : LATEST_MS;
      this.#meet(
        { mayWait, latestMs },
        { execute, fail: (outcome) => reply(faults.wayMs(), () => fail(outcome)) },
      );
    });
  }

  #meet({ mayWait, latestMs }: { mayWait: boolean; latestMs: number }, { execute, fail }: Server): void {
    const { random, scheduler, faults } = this.world;
    const executeAfter = (inMs: number, tells = true): void =>
      void scheduler.after(inMs, () => void execute(scheduler.nowMs, tells));
    const fate: Fate = faults.fate();
    switch (fate) {
      case 'arrives':
        return executeAfter(faults.wayMs());
      case 'connection refused':
        return fail('nothing-ran');
      case 'contention':
        return fail('contention');
      case 'lost on its way':
        // Sometimes the client gets no error, and only notices it by the time limit.
        return random.pick([true, false]) ? fail('unknown') : undefined;
      case 'reply lost':
        executeAfter(0, false);
        return random.pick([true, false]) ? fail('unknown') : undefined;
      case 'arrives late':
        return executeAfter(random.integer(1, latestMs));
      case 'waits at the server': {
        if (!mayWait) return executeAfter(random.integer(1, latestMs));
        // Its time is that of its arrival.
        const arrivedAtMs = scheduler.nowMs;
        return void scheduler.after(random.integer(1, latestMs), () => void execute(arrivedAtMs, true));
      }
    }
  }
}
