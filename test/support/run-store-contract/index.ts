import { contractOf, type ContractCase } from '#cronlatch/contracts/contract';
import { ambientTransactions } from './ambient-transaction';
import { changing } from './changing';
import { completing, deletedRuns } from './completing';
import { crowd } from './crowd';
import { events } from './events';
import { exactKeys, exactTexts } from './exact-keys';
import { counting } from './counting';
import { finding, latest, overdue, since, summaries } from './finding';
import { CAPABILITIES, type LackedRunStoreCapabilities } from './fixture';
import type { Instances, RunStoreBasics, RunStoreCapability, RunStoreFixture } from './fixture';
import { inserting } from './inserting';
import { peeking } from './peeking';
import { purging } from './purging';
import { randomUse } from './random-use';
import { registering } from './registering';
import { staleReads } from './stale-reads';
import { TestedStore } from './tested-store';

export interface RunStoreContractOptions<Lacked extends RunStoreCapability = never> {
  /** The capabilities that the store lacks, and why. Cases that need them are skipped with that reason. */
  readonly lacks?: LackedRunStoreCapabilities<Lacked>;
  /** Seeds the random cases. A failure names its seed. Default: a new seed each time. */
  readonly seed?: number;
}

/** Every case, in the order of a run's life. */
const ALL_CASES = [
  inserting,
  exactKeys,
  changing,
  exactTexts,
  crowd,
  completing,
  deletedRuns,
  randomUse,
  peeking,
  overdue,
  finding,
  latest,
  summaries,
  counting,
  since,
  events,
  purging,
  ambientTransactions,
  registering,
  staleReads,
].flat();

/**
 * The promises of every store of runs, as a list of cases for any test runner. A name ends with a promise
 * of the ledger: L1 one row per key, L2 one attempt at a time, L3 completed is completed, L4 overdue runs are
 * found, L7 missed periods can be seen. A number such as L-01 is one of the situations that the ledger must
 * withstand.
 *
 * @param create creates a fixture for one case. The case shares its runs with no other case.
 * @throws InvalidLockUseError for an unknown capability, or one that is lacked without a reason
 */
export function runStoreContract<Lacked extends RunStoreCapability = never>(
  create: () => RunStoreFixture<NoInfer<Lacked>> | Promise<RunStoreFixture<NoInfer<Lacked>>>,
  { lacks = {}, seed }: RunStoreContractOptions<Lacked> = {},
): ContractCase[] {
  return contractOf(ALL_CASES, { capabilities: CAPABILITIES, create, placeOf, lacks, seed });
}

function placeOf({ store, other, elapse }: RunStoreBasics): Instances {
  return { store: new TestedStore(store), other: new TestedStore(other), elapse };
}
