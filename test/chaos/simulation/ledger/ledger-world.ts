import type { LockProvider } from 'cronlatch/provider';
import type { InMemoryRuns } from '#cronlatch/storage/memory/in-memory-runs';
import type { LedgerHistory } from '../../history/ledger/ledger-history';
import type { World } from '../statement-way';
import type { SimulatedJob } from './simulated-job';
import type { RunStore } from '#cronlatch/ledger/run-store';

/** The bugs that a test can plant. */
export interface LedgerBreakage {
  /** In the database. */
  readonly store?: (store: RunStore, runs: InMemoryRuns) => Partial<RunStore>;
  /** On the host, before the connection to the database. */
  readonly client?: (store: RunStore) => Partial<RunStore>;
  readonly provider?: (provider: LockProvider) => Partial<LockProvider>;
  /** A job that calls itself runs inside its attempt, even if its lease has expired. */
  readonly ignoresLeaseInside?: boolean;
  /** Jobs are not registered, so that no instance restarts them. */
  readonly forgetsJobs?: boolean;
}

export interface LedgerWorld extends World {
  readonly runs: InMemoryRuns;
  readonly ledger: LedgerHistory;
  readonly jobs: readonly SimulatedJob[];
  readonly breakage: LedgerBreakage;
}

/** The time of a correct clock at the start of the simulation: an hour and a day end soon afterwards. */
export const EPOCH_MS = Date.UTC(2026, 10, 20) - 1_007_500;
