import { SLACK_MS, type Evidence } from './evidence';
import { certainEndMs, isDeletedBetween, type Grant } from './grants';

/** P1, P3, P5: compares the grants of one name with each other. */
export function checkGrants(evidence: Evidence, grants: readonly Grant[]): string[] {
  return [...checkPairs(evidence, grants), ...checkOrder(grants)];
}

function checkPairs(evidence: Evidence, grants: readonly Grant[]): string[] {
  const complaints: string[] = [];
  let longest: Grant | undefined;
  for (const [i, grant] of grants.entries()) {
    const before = grants[i - 1];
    if (before !== undefined && before.token >= grant.token)
      complaints.push(`P3: ${worded(grant)} has the token of ${worded(before)}`);
    for (const earlier of new Set([before, longest])) {
      if (earlier === undefined) continue;
      if (isDeletedBetween(evidence, grant.name, earlier.grantedMs - SLACK_MS, grant.grantedMs + SLACK_MS))
        continue;
      if (grant.grantedMs < certainEndMs(earlier, grant.grantedMs) - SLACK_MS)
        complaints.push(`P1: ${worded(grant)} was granted while ${worded(earlier)} was held`);
      if (grant.grantedMs < earlier.grantedMs + earlier.atLeastMs - 1)
        complaints.push(`P5: ${worded(grant)} was granted within lockAtLeastFor of ${worded(earlier)}`);
    }
    if (longest === undefined || certainEndMs(grant) > certainEndMs(longest)) longest = grant;
  }
  return complaints;
}

/**
 * Tokens rise in the order of the events: a grant that was answered before another was requested has the
 * lower token.
 */
function checkOrder(grants: readonly Grant[]): string[] {
  const told = [...grants].sort((a, b) => a.toldMs - b.toldMs);
  const asked = [...grants].sort((a, b) => a.askedMs - b.askedMs);
  const complaints: string[] = [];
  let highest: Grant | undefined;
  let next = 0;
  for (const grant of asked) {
    for (; (told[next]?.toldMs ?? Infinity) < grant.askedMs; next += 1) {
      const candidate = told[next];
      if (candidate && candidate.token > (highest?.token ?? 0)) highest = candidate;
    }
    if (highest !== undefined && grant.token <= highest.token)
      complaints.push(`P3: the token of ${worded(grant)} is not higher than that of ${worded(highest)}`);
  }
  return complaints;
}

export function worded({ name, token, worker, grantedMs }: Grant): string {
  return `lease ${token} of '${name}' (worker ${worker}, at ${grantedMs.toFixed()} ms)`;
}
