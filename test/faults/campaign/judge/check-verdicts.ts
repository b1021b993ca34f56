import { SLACK_MS, type Evidence } from './evidence';
import { isDeletedBetween, type Finding, type Grant } from './grants';
import { textOf } from './check-grants';

/** P2, P6: the answer to a release or an extension matches the row. */
export function checkVerdicts(evidence: Evidence, grants: readonly Grant[]): Finding[] {
  return grants.flatMap((grant, i) => {
    const takenOverMs = grants[i + 1]?.grantedMs ?? Infinity;
    const isDeletedBy = (ms: number): boolean =>
      isDeletedBetween(evidence, grant.name, grant.countedFromMs - SLACK_MS, ms + SLACK_MS);
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
    const findings: Finding[] = [];
    const find = (atMs: number, complaint: string, excuse?: string): void =>
      void findings.push({ lease: grant, atMs, complaint, excuse });
    const { release, released, refusals, extensions } = grant;
    const isLate = release !== undefined && takenOverMs < release.atMs - SLACK_MS;
    if (isLate && released?.stillOurs === true && !isDeletedBy(release.atMs))
      find(
        release.atMs,
        `P6: the release of ${textOf(grant)} was confirmed, although it was taken over before`,
      );
    if (released?.stillOurs === false && wasLive(released.atMs))
      find(
        released.atMs,
        `P2: the release of ${textOf(grant)} was refused, although the lease was live`,
        releaseSentTwice(evidence, grant, takenOverMs),
      );
    for (const { atMs } of refusals)
      if (wasLive(atMs) && (release?.atMs ?? Infinity) > atMs)
        find(atMs, `P2: an extension of ${textOf(grant)} was refused, although the lease was live`);
    for (const { sentMs } of extensions)
      if (takenOverMs < sentMs - SLACK_MS)
        find(sentMs, `P6: an extension of ${textOf(grant)} was confirmed, although it was taken over`);
    return findings;
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

const CUTS =
  /^(connections cut|reply swallowed|partition|slow network|statement delivered late|server|leader)/;

/**
 * If its connection was cut, ioredis sends a command again without a word. A release that took effect is then refused the
 * second time, if another worker has got the lock meanwhile. That worker may not know: its answer may be lost, too.
 */
function releaseSentTwice(
  evidence: Evidence,
  { name, worker, release, released }: Grant,
  takenOverMs: number,
): string | undefined {
  const { keeper, injections } = evidence;
  if (keeper !== 'redis' && keeper !== 'sentinel') return undefined;
  const fromMs = (release?.atMs ?? Infinity) - SLACK_MS;
  const untilMs = (released?.atMs ?? -Infinity) + SLACK_MS;
  const isCut = injections.some(
    (injection) =>
      CUTS.test(injection.kind) &&
      (injection.worker ?? worker) === worker &&
      injection.fromMs <= untilMs &&
      injection.untilMs >= fromMs,
  );
  const isGranted = takenOverMs >= fromMs && takenOverMs <= untilMs;
  const isTaken = isGranted || hasUnknownRequest(evidence, { name, worker }, fromMs, untilMs);
  return isCut && isTaken ? 'release sent twice' : undefined;
}

/** Whether another worker requested the lock in this time, and got no answer or an error. */
function hasUnknownRequest(
  { journal }: Evidence,
  { name, worker }: Pick<Grant, 'name' | 'worker'>,
  fromMs: number,
  untilMs: number,
): boolean {
  return journal.some((request) => {
    if (request.k !== 'request' || request.name !== name || request.worker === worker) return false;
    const answer = journal.find(
      (entry) => entry.k === 'answer' && entry.worker === request.worker && entry.id === request.id,
    );
    const isUnknown = answer?.k !== 'answer' || answer.verdict === 'failed';
    return isUnknown && request.atMs <= untilMs && (answer?.atMs ?? Infinity) >= fromMs;
  });
}
