import { caseDefiner, type CaseDefinition } from '../case-definition';
import type { CapabilityMeans, LockProviderCapability } from './capabilities';
import type { LockProviderBasics } from './fixture';

export interface LockProviderShape {
  readonly basics: LockProviderBasics;
  readonly means: CapabilityMeans;
  readonly capability: LockProviderCapability;
  readonly settings: {
    /** How many random names a case tries. */
    readonly fuzzedNames: number;
  };
}

export type LockProviderCase = CaseDefinition<LockProviderShape>;

export const { cases, needing } = caseDefiner<LockProviderShape>();
