import { SLACK_MS, type Evidence } from './evidence';
import { isDeletedBetween, type Grant } from './grants';
import { textOf } from './check-grants';

/** P2, P6: the answer to a release or an extension matches the row. */
export function checkVerdicts(evidence: Evidence, grants: readonly Grant[]): string[] {
  return grants.flatMap((grant, i) => {
    const takenOverMs = grants[i + 1]?.grantedMs ?? Infinity;
    const isDeletedBy = (ms: number): boolean =>
      isDeletedBetween(evidence, grant.name, grant.grantedMs - SLACK_MS, ms + SLACK_MS);
    // If the wall clock is set forward, the holder assumes that the machine slept, and that the lease is
    // lost.
    const isSetBy = (ms: number): boolean =>
      evidence.injections.some(
        ({ kind, worker, fromMs }) =>
          kind === 'wall clock set' &&
          worker === grant.worker &&
          fromMs >= grant.sentMs - SLACK_MS &&
          fromMs <= ms,
      );
    const wasLive = (ms: number): boolean => isLive(grant, ms) && !isDeletedBy(ms) && !isSetBy(ms);
    const complaints: string[] = [];
    const { release, released, refusals, extensions } = grant;
    const isLate = release !== undefined && takenOverMs < release.atMs - SLACK_MS;
    if (isLate && released?.stillOurs === true && !isDeletedBy(release.atMs))
      complaints.push(`P6: the release of ${textOf(grant)} was confirmed, although it was taken over before`);
    if (released?.stillOurs === false && wasLive(released.atMs))
      complaints.push(`P2: the release of ${textOf(grant)} was refused, although the lease was live`);
    for (const { atMs } of refusals)
      if (wasLive(atMs) && (release?.atMs ?? Infinity) > atMs)
        complaints.push(`P2: an extension of ${textOf(grant)} was refused, although the lease was live`);
    for (const { sentMs } of extensions)
      if (takenOverMs < sentMs - SLACK_MS)
        complaints.push(`P6: an extension of ${textOf(grant)} was confirmed, although it was taken over`);
    return complaints;
  });
}

/**
 * As far as its holder could trust the lease, which counts from its request, including all extensions
 * requested since.
 */
function isLive({ sentMs, atMostMs, extensions }: Grant, atMs: number): boolean {
  const known = extensions.filter((extension) => extension.atMs <= atMs);
  const ends = [{ sentMs, atMostMs }, ...known].map((lease) => lease.sentMs + lease.atMostMs);
  return Math.max(...ends) > atMs + SLACK_MS;
}
