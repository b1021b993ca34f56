import { checkLedgerHistory } from '../../history/ledger/check-ledger-history';
import type { CheckedSchedule } from '../search';
import { simulateLedger } from './ledger-schedule';
import type { LedgerBreakage } from './ledger-world';

/** Checks the runs, and the locks under which they ran. */
export async function checkedLedgerSchedule(
  seed: number,
  breakage: LedgerBreakage = {},
): Promise<CheckedSchedule> {
  const { history, ledger, steps, faults } = await simulateLedger(seed, breakage);
  const violations = checkLedgerHistory(history, ledger);
  return { violations, steps, attempts: ledger.handlerRuns.length, faults };
}
