import { ambientTransactions } from './ambient-transaction';
import { atLeast } from './at-least';
import type { LockProviderCase } from './contract-cases';
import { crowd } from './crowd';
import { deletedRecords } from './deleted-records';
import { exactNames } from './exact-names';
import { exclusion } from './exclusion';
import { existingRecords } from './existing-records';
import { expiry } from './expiry';
import { extending } from './extending';
import { keepAlive } from './keep-alive';
import { lateHolder } from './late-holder';
import { ownership } from './ownership';
import { randomUse } from './random-use';
import { tasks } from './tasks';
import { tokens } from './tokens';
import { trust } from './trust';
import { wrongConfigurations } from './wrong-configurations';

/** Every case, in the order of the promises. */
export const allCases: readonly LockProviderCase[] = [
  ...[exclusion, crowd, exactNames, existingRecords, randomUse],
  ...[trust, lateHolder, tokens],
  ...[expiry, extending, deletedRecords, keepAlive, atLeast, ownership],
  ...[wrongConfigurations, ambientTransactions, tasks],
]
  .flat()
  .sort((a, b) => a.name.slice(0, 2).localeCompare(b.name.slice(0, 2)));
