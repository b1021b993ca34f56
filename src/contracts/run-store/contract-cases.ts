import { caseDefiner, type CaseDefinition } from '../case-definition';
import type { RunStoreBasics, RunStoreCapability, RunStoreMeans } from './fixture';

export interface RunStoreShape {
  readonly basics: RunStoreBasics;
  readonly means: RunStoreMeans;
  readonly capability: RunStoreCapability;
  readonly settings: object;
}

export type RunStoreCase = CaseDefinition<RunStoreShape>;

export const { cases, needing } = caseDefiner<RunStoreShape>();
