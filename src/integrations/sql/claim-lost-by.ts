import { ClaimLostError, CronlatchError } from '../../core';
import { isOurs } from '../../ledger/tick/decide-outcome';
import { limitOf, type LedgerContext } from '../../ledger/store-statements';
import { claimLostError } from '../../ledger/tick/record-outcome';
import type { RunContext } from '../../ledger/tick/run-context';
import type { FoundRun } from '../../ledger/run-store';
import type { ApplicationSession } from '../../storage/sql/database/application-session';
import { describeRun } from '../../ledger/run';

/**
 * Turns the failure of a transaction into a `ClaimLostError` if the lease has expired and the run can no longer be
 * completed. The error of the database is then its cause.
 *
 * @param error from the database, after the transaction was rolled back
 * @returns `error` itself during the lease, and if the run could still be completed
 */
export async function claimLostBy(
  error: unknown,
  { run: context, ledger, session }: { run: RunContext; ledger: LedgerContext; session: ApplicationSession },
): Promise<unknown> {
  if (error instanceof CronlatchError || context.remainingMs() > 0) return error;
  const { claim } = context;
  const readRow = (found: FoundRun | undefined): { value: { found: FoundRun | undefined } } => ({
    value: { found },
  });
  const row = await ledger.store.change(claim, readRow, limitOf(ledger)).catch(() => undefined);
  if (row === undefined) return error; // The state of the run is unknown.
  const run = row.found?.run;
  if (run === undefined || !isOurs(run, claim)) return claimLostError(claim, run, { cause: error });
  const isConnected = await session.isInTransaction().then(
    () => true,
    () => false,
  );
  if (isConnected) return error;
  return new ClaimLostError(
    `Lost attempt ${claim.attempt} of ${describeRun(claim)}: its lease expired, and then the connection of its transaction ended. Nothing in the transaction was committed.`,
    { cause: error },
  );
}
