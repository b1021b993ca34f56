import { SLACK_MS, type Evidence } from './evidence';
import { certainEndMs, isDeletedBetween, type Finding, type Grant } from './grants';

/** P1, P5: compares the grants of one name with each other. */
export function checkPairs(evidence: Evidence, grants: readonly Grant[]): Finding[] {
  const findings: Finding[] = [];
  let longest: Grant | undefined;
  for (const [i, grant] of grants.entries()) {
    const before = grants[i - 1];
    for (const earlier of new Set([before, longest])) {
      if (earlier === undefined) continue;
      if (
        isDeletedBetween(evidence, grant.name, earlier.countedFromMs - SLACK_MS, grant.grantedMs + SLACK_MS)
      )
        continue;
      const find = (complaint: string): void =>
        void findings.push({ lease: earlier, atMs: grant.grantedMs, complaint });
      if (grant.grantedMs < certainEndMs(earlier, grant.grantedMs) - SLACK_MS)
        find(`P1: ${textOf(grant)} was granted while ${textOf(earlier)} was held`);
      if (grant.grantedMs < earlier.countedFromMs + earlier.atLeastMs - 1)
        find(`P5: ${textOf(grant)} was granted within lockAtLeastFor of ${textOf(earlier)}`);
    }
    if (longest === undefined || certainEndMs(grant) > certainEndMs(longest)) longest = grant;
  }
  return findings;
}

/**
 * P3: tokens are unique, and rise in the order of the events: a grant that was answered before another was requested has the
 * lower token.
 */
export function checkOrder(grants: readonly Grant[]): string[] {
  const byAnswer = [...grants].sort((a, b) => a.answeredMs - b.answeredMs);
  const byRequest = [...grants].sort((a, b) => a.sentMs - b.sentMs);
  const complaints = grants.flatMap((grant, i) => {
    const before = grants[i - 1];
    return before !== undefined && before.token >= grant.token
      ? [`P3: ${textOf(grant)} has the token of ${textOf(before)}`]
      : [];
  });
  let highest: Grant | undefined;
  let next = 0;
  for (const grant of byRequest) {
    for (; (byAnswer[next]?.answeredMs ?? Infinity) < grant.sentMs; next += 1) {
      const candidate = byAnswer[next];
      if (candidate && candidate.token > (highest?.token ?? 0)) highest = candidate;
    }
    if (highest !== undefined && grant.token <= highest.token)
      complaints.push(`P3: the token of ${textOf(grant)} is not higher than that of ${textOf(highest)}`);
  }
  return complaints;
}

export function textOf({ name, token, worker, grantedMs }: Grant): string {
  return `lease ${token} of '${name}' (worker ${worker}, at ${grantedMs.toFixed()} ms)`;
}
