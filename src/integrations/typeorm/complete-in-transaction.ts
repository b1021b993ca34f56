import { InvalidLockUseError, RunAlreadyCompletedError } from '../../core';
import { decideOutcome } from '../../ledger/tick/decide-outcome';
import { claimLostError } from '../../ledger/tick/record-outcome';
import { describeRun, type Claim } from '../../ledger/run';
import { readId } from '../../storage/sql/ledger/run-rows';
import { foundRunOf, type RunStatements } from '../../storage/sql/ledger/run-statements';
import type { SqlDialect } from '../../storage/sql/dialects/sql-dialect';
import type { ApplicationSession } from '../../storage/typeorm/application-session';

export interface TransactionalCompletion {
  readonly statements: RunStatements;
  readonly dialect: SqlDialect;
  readonly claim: Claim;
  readonly result: string | undefined;
}

/**
 * Writes the completion of a run in the transaction that is open on the session. If another process has taken the run
 * over, its row has changed, and nothing is written.
 *
 * @throws ClaimLostError if another attempt has replaced this one. The transaction must be rolled back.
 * @throws RunAlreadyCompletedError if the row is completed already. The transaction must be rolled back.
 * @throws InvalidLockUseError if the transaction has already ended
 */
export async function completeInTransaction(
  session: ApplicationSession,
  { statements, dialect, claim, result }: TransactionalCompletion,
): Promise<void> {
  // Outside a transaction, the completion would commit alone. That could happen after a deadlock, in which MySQL rolls
  // everything back, if the job catches the error.
  if (!(await session.isInTransaction())) throw transactionEnded(claim);
  const answer = await session.send(statements.complete(claim, result));
  if (dialect.writtenRows(answer) === 1) return;
  // The claim no longer matches the row. Read the row to find out why.
  const locked = await session.send(statements.lock(claim));
  const found = foundRunOf(locked);
  const { value: verdict, write, events = [] } = decideOutcome(found, claim, { kind: 'completed', result });
  const [row] = locked.rows;
  if (verdict.kind === 'lost' || row === undefined) throw claimLostError(claim, found?.run);
  // This attempt has completed the run before, so committing would apply its effects twice.
  if (write === undefined)
    throw new RunAlreadyCompletedError(
      `Cannot complete ${describeRun(claim)} in this transaction: its row is already completed. Roll the transaction back.`,
    );
  const id = readId(row, describeRun(claim));
  await session.send(statements.write(id, write));
  for (const event of events) await session.send(statements.insertEvent(id, event));
}

function transactionEnded(claim: Claim): InvalidLockUseError {
  return new InvalidLockUseError(
    `Cannot complete ${describeRun(claim)}: its transaction has already ended. Check whether the job ended it, ran a statement that commits implicitly, or caught an error after which the database rolls back, such as a deadlock.`,
  );
}
