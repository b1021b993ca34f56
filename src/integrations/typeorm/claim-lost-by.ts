import { ClaimLostError, CronlatchError } from '../../core';
import { isOurs } from '../../ledger/tick/decide-outcome';
import { limitOf, type LedgerContext } from '../../ledger/store-statements';
import { claimLost } from '../../ledger/tick/record-outcome';
import type { RunContext } from '../../ledger/tick/run-context';
import type { FoundRun } from '../../ledger/run-store';
import type { ApplicationSession } from '../../storage/typeorm/application-session';
import { describeRun } from '../../ledger/run';

/**
 * What the holder of a run whose lease has ended needs to know about its failed transaction: that the run is no longer
 * its own. How the database ended the transaction is the cause.
 *
 * @param error of the database, after the transaction was rolled back
 * @returns the error itself while the lease lasts, and where the run could still be completed
 */
export async function claimLostBy(
  error: unknown,
  { run, ledger, session }: { run: RunContext; ledger: LedgerContext; session: ApplicationSession },
): Promise<unknown> {
  if (error instanceof CronlatchError || run.remainingMs() > 0) return error;
  const { claim } = run;
  const look = (found: FoundRun | undefined): { value: { found: FoundRun | undefined } } => ({
    value: { found },
  });
  const looked = await ledger.store.change(claim, look, limitOf(ledger)).catch(() => undefined);
  if (looked === undefined) return error; // Nothing is known of the run, and the error is.
  const stands = looked.found?.run;
  if (stands === undefined || !isOurs(stands, claim)) return claimLost(claim, stands, { cause: error });
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
