import { checkAnswers } from '../check-answers';
import { checkExclusion } from '../check-exclusion';
import { checkTokens } from '../check-tokens';
import type { History } from '../history';
import { leasesOf } from '../lease-history';
import { checkChanges } from './check-changes';
import { checkClosings } from './check-closings';
import { checkInnerRuns } from './check-inner-runs';
import { checkOwed } from './check-owed';
import { checkPurged } from './check-purged';
import { checkStarts } from './check-starts';
import { checkTakeovers } from './check-takeovers';
import { checkVerdicts } from './check-verdicts';
import type { LedgerHistory } from './ledger-history';

/**
 * Whether what became of the runs of a history is what the promises L1 to L4 say, whatever became of their locks; and
 * whether their locks were mutexes with expiry, as far as they were meant to be.
 *
 * @returns what was violated, in words; nothing if nothing was
 */
export function checkLedgerHistory(history: History, ledger: LedgerHistory): string[] {
  const ofRuns = [
    checkChanges,
    checkTakeovers,
    checkStarts,
    checkVerdicts,
    checkClosings,
    checkOwed,
    checkPurged,
  ];
  const violations = ofRuns.flatMap((check) => check(history, ledger));
  if (ledger.locksAreNone || ledger.clockSets.length > 0) return violations;
  const leases = leasesOf(history);
  const ofLocks = [checkExclusion, checkTokens, checkAnswers];
  const ofBoth = checkInnerRuns(history, ledger, leases);
  return [...violations, ...ofLocks.flatMap((check) => check(history, leases)), ...ofBoth];
}
