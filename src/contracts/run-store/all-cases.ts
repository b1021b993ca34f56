import { ambientTransactions } from './ambient-transaction';
import { changing } from './changing';
import { completing } from './completing';
import type { RunStoreCase } from './contract-cases';
import { crowd } from './crowd';
import { deletedRuns } from './deleted-runs';
import { events } from './events';
import { exactKeys } from './exact-keys';
import { exactTexts } from './exact-texts';
import { finding } from './finding';
import { inserting } from './inserting';
import { owing } from './owing';
import { peeking } from './peeking';
import { purging } from './purging';
import { randomUse } from './random-use';

/** Every case, in the order of a run's life. */
export const allCases: readonly RunStoreCase[] = [
  ...[inserting, exactKeys, changing, exactTexts, crowd, completing, deletedRuns, randomUse],
  ...[peeking, owing, finding, events, purging, ambientTransactions],
].flat();
