import type { LockProvider, RunStore } from 'cronlatch/provider';
import type { InMemoryRuns } from '#cronlatch/storage/memory/in-memory-runs';
import type { LedgerHistory } from '../../history/ledger/ledger-history';
import type { World } from '../statement-way';
import type { SimulatedJob } from './simulated-job';

/** What may be broken on purpose. */
export interface LedgerBreakage {
  /** At the database. */
  readonly store?: (store: RunStore, runs: InMemoryRuns) => Partial<RunStore>;
  /** At the host, behind its way to the database. */
  readonly client?: (store: RunStore) => Partial<RunStore>;
  readonly provider?: (provider: LockProvider) => Partial<LockProvider>;
  /** A job that calls itself runs inside its attempt, whatever its lease. */
  readonly ignoresLeaseInside?: boolean;
  /** Jobs are not registered, so that nobody brings them back. */
  readonly forgetsJobs?: boolean;
}

export interface LedgerWorld extends World {
  readonly runs: InMemoryRuns;
  readonly ledger: LedgerHistory;
  readonly jobs: readonly SimulatedJob[];
  readonly breakage: LedgerBreakage;
}

/** What a clock that is right shows, ahead of the simulation's time: an hour, and a day, end a little after its beginning. */
export const EPOCH_MS = Date.UTC(2026, 10, 20) - 1_007_500;
