import { lastTrustedMs } from '../check-awareness';
import type { History } from '../history';
import type { LeaseHistory } from '../lease-history';
import type { LedgerHistory } from './ledger-history';

/** P2: a job that calls itself runs as a part of its attempt only while its lease lasts. */
export function checkInnerRuns(
  history: History,
  ledger: LedgerHistory,
  leases: readonly LeaseHistory[],
): string[] {
  return ledger.innerRuns.flatMap(({ host, key, claim, atMs }) => {
    const { lockName } = ledger.jobs.get(claim.job) ?? {};
    const token = ledger.changesOf(key).find(({ after }) => after?.claimedBy === claim.claimedBy)
      ?.after?.fencingToken;
    const lease = leases.find(({ name, grant }) => name === lockName && grant?.token === token);
    if (lease === undefined) return [`P7: host ${host} ran ${key} inside itself at ${atMs} without a grant`];
    const endMs = lastTrustedMs(history, lease, 'look');
    return atMs <= endMs
      ? []
      : [`P2: host ${host} ran ${key} inside itself at ${atMs}, although its lease had ended at ${endMs}`];
  });
}
