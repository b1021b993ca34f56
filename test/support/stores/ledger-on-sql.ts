import { InMemoryJobs } from '#cronlatch/storage/memory/in-memory-jobs';
import { parseDuration } from '#cronlatch/core/duration';
import { SettableClock } from 'cronlatch/testing';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';
import { databaseNowUs, shiftBack } from '../databases/lock-table';
import type { PlaceStores } from './ledger-place';
import { shiftPeriodsBack, shiftRunsBack } from '../databases/run-tables';
import { StatementsInFlight } from '../faults/statements-in-flight';
import type { TestDatabase } from '../databases/fresh';
import { VirtualTimeStore } from '../clocks/virtual-time-store';
import { TypeOrmRunStore } from './typeorm-run-store';

/** Longer than a pause before a statement is resent, and shorter than anything a test waits for. */
const PAUSE_MS = 250;

/**
 * The test's time does not pass while a test waits for a real server. So pauses also end in real time, or
 * contention would never end.
 */
class PausingClock extends SettableClock {
  override schedule(delayMs: number, callback: () => void): () => void {
    if (delayMs > PAUSE_MS) return super.schedule(delayMs, callback);
    const cancel = (): void => {
      clearTimeout(timer);
      cancelVirtual();
    };
    const once = (): void => {
      cancel();
      callback();
    };
    const timer = setTimeout(once, delayMs);
    const cancelVirtual = super.schedule(delayMs, once);
    return cancel;
  }
}

/**
 * Locks and runs in a database that has their tables, at a time that the test sets: for the database, moving everything
 * back in time equals the passing of time.
 */
export async function sqlStores(
  database: TestDatabase,
  now: string,
): Promise<PlaceStores & { close(): Promise<void> }> {
  const operator = await new DataSource(database.options).initialize();
  const clock = new PausingClock(now);
  const ahead = {
    ms: clock.wallMs() - (await databaseNowUs(operator)) / 1000,
    jobs: new InMemoryJobs(),
  };
  const opened: { close(): Promise<void> }[] = [];
  const inFlight = new StatementsInFlight();
  return {
    clock,
    connect() {
      const dataSource = new DataSource(database.options);
      const lockProvider = new TypeOrmLockProvider(dataSource, { clock });
      const runStore = new TypeOrmRunStore(dataSource, { clock });
      opened.push(lockProvider, runStore);
      const store = new VirtualTimeStore(runStore, ahead, (ms) => shiftPeriodsBack(operator, ms));
      return { lockProvider, store: inFlight.of(store) };
    },
    async elapse(duration) {
      // Background queries use the time at which they were sent.
      await inFlight.ended();
      const milliseconds = parseDuration(duration, 'elapse');
      await shiftBack(operator, milliseconds);
      await shiftRunsBack(operator, milliseconds);
      ahead.ms += milliseconds;
      clock.advance(duration);
    },
    async close() {
      await Promise.all(opened.map((each) => each.close()));
      await operator.destroy();
    },
  };
}
