import { InvalidLockUseError, RunAlreadyCompletedError } from '../../core';
import { decideOutcome } from '../../ledger/tick/decide-outcome';
import { claimLost } from '../../ledger/tick/record-outcome';
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
 * Writes the completion of a run into the transaction that is open on the session. Whoever took the run over meanwhile
 * has changed its row, and then nothing is written.
 *
 * @throws ClaimLostError when the attempt does not count any more: the transaction must be rolled back
 * @throws RunAlreadyCompletedError when the row says so: the transaction must be rolled back
 * @throws InvalidLockUseError when the transaction has ended already
 */
export async function completeInTransaction(
  session: ApplicationSession,
  { statements, dialect, claim, result }: TransactionalCompletion,
): Promise<void> {
  // Outside, the completion would commit by itself. MySQL rolls all back in a deadlock, and a job may catch its error.
  if (!(await session.isInTransaction())) throw ended(claim);
  const answer = await session.send(statements.complete(claim, result));
  if (dialect.writtenRows(answer) === 1) return;
  // Not the usual case: the row has to be looked at.
  const locked = await session.send(statements.lock(claim));
  const found = foundRunOf(locked);
  const { value: verdict, write, events = [] } = decideOutcome(found, claim, { kind: 'completed', result });
  const [row] = locked.rows;
  if (verdict.kind === 'lost' || row === undefined) throw claimLost(claim, found?.run);
  // By this very attempt: its effects would be made a second time.
  if (write === undefined)
    throw new RunAlreadyCompletedError(
      `Cannot complete ${describeRun(claim)} in this transaction: its row is already completed. Roll the transaction back.`,
    );
  const id = readId(row['id']);
  await session.send(statements.write(id, write));
  for (const event of events) await session.send(statements.insertEvent(id, event));
}

function ended(claim: Claim): InvalidLockUseError {
  return new InvalidLockUseError(
    `Cannot complete ${describeRun(claim)}: its transaction has already ended. Check whether the job ended it, ran a statement that commits implicitly, or caught an error after which the database rolls back, such as a deadlock.`,
  );
}
