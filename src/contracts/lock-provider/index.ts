import { contractOf, type ContractCase } from '../contract';
import { ambientTransactions, tasks } from './callers';
import { exactNames, manyNames, wrongConfigurations } from './configurations';
import { exclusion } from './exclusion';
import { CAPABILITIES, type LackedCapabilities } from './fixture';
import type { Instances, LockProviderCapability, LockProviderFixture } from './fixture';
import { atLeast, atLeastAfterCrash, exactExpiry, expiry, extending } from './lease';
import { operator } from './operator';
import { ownership, tokens } from './ownership';
import { randomUse } from './random-use';
import { deletedRecords, existingRecords, staleReads } from './records';
import { keepAlive, lateHolder, trust } from './trust';

export interface LockProviderContractOptions<Lacked extends LockProviderCapability = never> {
  /** The capabilities that the store lacks, and why. Cases that need them are skipped with that reason. */
  readonly lacks?: LackedCapabilities<Lacked>;
  /** Seeds the random cases. A failure names its seed. Default: a new seed each time. */
  readonly seed?: number;
  /** How many random names a case tries. Default 300. */
  readonly fuzzedNames?: number;
}

const ALL_CASES = [
  exclusion,
  exactNames,
  manyNames,
  existingRecords,
  staleReads,
  randomUse,
  trust,
  lateHolder,
  tokens,
  expiry,
  exactExpiry,
  extending,
  deletedRecords,
  keepAlive,
  atLeast,
  atLeastAfterCrash,
  ownership,
  operator,
  wrongConfigurations,
  ambientTransactions,
  tasks,
].flat();

/**
 * The promises of every lock provider, as a list of cases for any test runner. A name ends with its
 * promise: P1 exclusive, P2 a live holder knows, P3 tokens rise, P4 liveness, P5 at least, P6 ownership, P7
 * fail closed, P8 independence of the caller's transactions, P9 the job's own outcome wins. An F with a
 * number is a fault listed in `docs/internals/faults.md`.
 *
 * @param create creates a fixture for one case. The case shares its locks with no other case.
 * @throws InvalidLockUseError for an unknown capability, or one that is lacked without a reason
 */
export function lockProviderContract<Lacked extends LockProviderCapability = never>(
  create: () => LockProviderFixture<NoInfer<Lacked>> | Promise<LockProviderFixture<NoInfer<Lacked>>>,
  options: LockProviderContractOptions<Lacked> = {},
): ContractCase[] {
  const { lacks = {}, seed, fuzzedNames = 300 } = options;
  const placeOf = ({ provider, other, elapse }: Instances) => ({ provider, other, elapse, fuzzedNames });
  return contractOf(ALL_CASES, { capabilities: CAPABILITIES, create, placeOf, lacks, seed });
}
