import { checkAnswers } from './check-answers';
import { checkAwareness } from './check-awareness';
import { checkExclusion } from './check-exclusion';
import { checkLiveness } from './check-liveness';
import { checkReleases } from './check-releases';
import { checkTokens } from './check-tokens';
import type { History } from './history';
import { leasesOf } from './lease-history';

/**
 * Checks that the locks of a history were mutexes with expiry, by the promises P1 to P7. An operation without
 * an answer may have taken effect or not, so the check requires only what holds in both cases.
 *
 * @returns the violations, in words
 */
export function checkHistory(history: History): string[] {
  const leases = leasesOf(history);
  const checks = [checkExclusion, checkTokens, checkAnswers, checkReleases, checkAwareness, checkLiveness];
  return checks.flatMap((check) => check(history, leases));
}
