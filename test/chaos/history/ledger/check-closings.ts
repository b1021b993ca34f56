import type { History } from '../history';
import type { LedgerHistory } from './ledger-history';

/**
 * After a guard has closed with nothing abandoned, its process may end, so the guard sends no further
 * statements.
 */
export function checkClosings({ operations }: History, { closings, statements }: LedgerHistory): string[] {
  return closings.flatMap(({ host, order }) => {
    const isLate = (sent: { readonly host: number; readonly order: number }): boolean =>
      sent.host === host && sent.order > order;
    const late = [...operations, ...statements].filter(isLate);
    return late.map(({ statement }) => `host ${host} sent its ${statement} after its guard had closed`);
  });
}
