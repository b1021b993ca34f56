import { checkAnswers } from './check-answers';
import { checkAwareness } from './check-awareness';
import { checkExclusion } from './check-exclusion';
import { checkLiveness } from './check-liveness';
import { checkReleases } from './check-releases';
import { checkTokens } from './check-tokens';
import type { History } from './history';
import { leasesOf } from './lease-history';

/**
 * Whether the locks of a history were mutexes with expiry: what the promises P1 to P7 say of it, given what is known.
 * An operation without an answer may have taken effect or not, so that only what holds either way is asked for.
 *
 * @returns what was violated, in words; nothing if nothing was
 */
export function checkHistory(history: History): string[] {
  const leases = leasesOf(history);
  const checks = [checkExclusion, checkTokens, checkAnswers, checkReleases, checkAwareness, checkLiveness];
  return checks.flatMap((check) => check(history, leases));
}
