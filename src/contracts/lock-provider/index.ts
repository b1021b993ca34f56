import type { ContractCase } from '../contract-case';
import { contractOf } from '../contract-of';
import { allCases } from './all-cases';
import { CAPABILITIES, type LackedCapabilities, type LockProviderCapability } from './capabilities';
import type { LockProviderFixture } from './fixture';

export type {
  CapabilityMeans,
  ExistingRecord,
  LackedCapabilities,
  LockProviderCapability,
} from './capabilities';
export type { LockProviderFixture } from './fixture';

export interface LockProviderContractOptions<Lacked extends LockProviderCapability = never> {
  /** What the store does not have, and why: the cases that need it are to be skipped, and say so. */
  readonly lacks?: LackedCapabilities<Lacked>;
  /** Of the cases that are random: a failure tells its seed. Default: another one each time. */
  readonly seed?: number;
  /** How many random names are asked for in one case. Default 300. */
  readonly fuzzedNames?: number;
}

type Create<Lacked extends LockProviderCapability> = () =>
  LockProviderFixture<Lacked> | Promise<LockProviderFixture<Lacked>>;

/**
 * What every lock provider promises, as a list of cases for any runner. The letters are those of the promises: P1
 * exclusive, P2 a live holder knows, P3 tokens rise, P4 liveness, P5 at least, P6 ownership, P7 fail closed,
 * P8 independence of the caller's transactions, P9 the job's own outcome wins. An F with a number names one of the faults
 * that are listed in `docs/reliability.md`.
 *
 * @param create makes a fixture for one case; its locks are not shared with any other
 * @throws InvalidLockUseError for a capability that there is not, or one that is lacked without a reason
 */
export function lockProviderContract<Lacked extends LockProviderCapability = never>(
  create: Create<NoInfer<Lacked>>,
  options: LockProviderContractOptions<Lacked> = {},
): ContractCase[] {
  const { lacks = {}, seed, fuzzedNames = 300 } = options;
  return contractOf(allCases, {
    capabilities: CAPABILITIES,
    create,
    lacks,
    seed,
    settings: { fuzzedNames },
  });
}
