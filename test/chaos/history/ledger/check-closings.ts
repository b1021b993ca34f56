import type { History } from '../history';
import type { LedgerHistory } from './ledger-history';

/** Whoever has closed his guard, and left nothing behind, may end his process: nothing was to be written any more. */
export function checkClosings({ operations }: History, { closings, statements }: LedgerHistory): string[] {
  return closings.flatMap(({ host, order }) => {
    const isLate = (sent: { readonly host: number; readonly order: number }): boolean =>
      sent.host === host && sent.order > order;
    const late = [...operations, ...statements].filter(isLate);
    return late.map(({ statement }) => `host ${host} sent its ${statement} after it had closed`);
  });
}
