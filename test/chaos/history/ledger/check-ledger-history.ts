import { checkAnswers } from '../check-answers';
import { checkExclusion } from '../check-exclusion';
import { checkTokens } from '../check-tokens';
import type { History } from '../history';
import { leasesOf } from '../lease-history';
import { checkChanges } from './check-changes';
import { checkClosings, checkInnerRuns, checkPurged, checkStarts } from './check-handlers';
import { checkOverdue } from './check-overdue';
import { checkTakeovers } from './check-takeovers';
import { checkVerdicts } from './check-verdicts';
import type { LedgerHistory } from './ledger-history';

/**
 * Checks that the runs of a history kept the promises L1 to L4, even if their locks failed, and that the
 * locks were mutexes with expiry, if they worked.
 *
 * @returns the violations, in words
 */
export function checkLedgerHistory(history: History, ledger: LedgerHistory): string[] {
  const ofRuns = [
    checkChanges,
    checkTakeovers,
    checkStarts,
    checkVerdicts,
    checkClosings,
    checkOverdue,
    checkPurged,
  ];
  const violations = ofRuns.flatMap((check) => check(history, ledger));
  if (ledger.locksAreNone || ledger.clockSets.length > 0) return violations;
  const leases = leasesOf(history);
  const ofLocks = [checkExclusion, checkTokens, checkAnswers];
  const ofBoth = checkInnerRuns(history, ledger, leases);
  return [...violations, ...ofLocks.flatMap((check) => check(history, leases)), ...ofBoth];
}
