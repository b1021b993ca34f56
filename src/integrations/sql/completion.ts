import { InvalidLockUseError, RunAlreadyCompletedError } from '../../core';
import { describeRun, type Claim } from '../../ledger/run';
import { limitOf } from '../../ledger/store-statements';
import { decideOutcome } from '../../ledger/tick/decide-outcome';
import { claimLostError, serializeResult } from '../../ledger/tick/record-outcome';
import { requiredContext } from '../../ledger/tick/run-context';
import type { SqlResult, SqlStatement } from '../../storage/sql/connections/sql-executor';
import type { ApplicationSession, SessionLimits } from '../../storage/sql/database/application-session';
import type { SqlDatabase } from '../../storage/sql/database/sql-database';
import type { SqlDialect } from '../../storage/sql/dialects/sql-dialect';
import { readId } from '../../storage/sql/ledger/run-rows';
import { foundRunOf, type RunStatements } from '../../storage/sql/ledger/run-statements';
import { refuseLoss } from '../../storage/sql/ledger/sql-run-store';
import { describeSource } from '../../storage/sql/database/application-source';
import { placeOf, type ApplicationDatabase, type UnknownDatabase } from './run-databases';

export const COMPLETE_RUN_IN = 'completeRunIn()';

/** What a completion needs of the application's transaction. */
export type CompletionSession = Pick<ApplicationSession, 'isInTransaction' | 'send'>;

export interface Completion {
  readonly statements: RunStatements;
  readonly database: Pick<SqlDatabase, 'dialect' | 'findLoss'>;
  readonly claim: Claim;
  readonly result: string | undefined;
  /** The ledger's database, if the transaction may be in another one. */
  readonly expectedDatabase?: string | undefined;
}

/**
 * Completes the current run in a transaction of the application.
 *
 * @param other the database of the transaction
 */
export async function completeIn(
  session: (limits: SessionLimits, dialect: SqlDialect) => CompletionSession | Promise<CompletionSession>,
  other: ApplicationDatabase | UnknownDatabase,
  result: unknown,
): Promise<void> {
  const run = requiredContext(COMPLETE_RUN_IN);
  const { store, ledger } = placeOf(run, COMPLETE_RUN_IN, other);
  run.beginCompletion(COMPLETE_RUN_IN);
  try {
    const statements = await store.statements(limitOf(ledger));
    const { dialect, address, place } = store.description;
    const transaction = await session(ledger, dialect);
    const wait = store.nodeWait?.worksInside ? store.nodeWait : undefined;
    if (wait) await transaction.send({ id: '', text: wait.begin, values: [] });
    try {
      await completeInTransaction(transaction, {
        statements,
        database: store.description,
        claim: run.claim,
        result: serializeResult(ledger, run.claim, result),
        expectedDatabase: 'database' in other ? undefined : `${address} (${place})`,
      });
    } finally {
      if (wait) await transaction.send({ id: '', text: wait.end, values: [] });
    }
  } catch (error) {
    run.endCompletion();
    throw error;
  }
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
  session: CompletionSession,
  completion: Completion,
): Promise<void> {
  // Outside a transaction, the completion would commit alone. That could happen after a deadlock, in which MySQL rolls
  // everything back, if the job catches the error.
  if (!(await session.isInTransaction())) throw transactionEnded(completion.claim);
  const steps = completionSteps(completion);
  for (let step = steps.next(); !step.done; step = steps.next(await session.send(step.value)));
}

/** The statements of a completion, one after the other: a synchronous driver cannot await their results. */
export function* completionSteps(completion: Completion): Generator<SqlStatement, void, SqlResult> {
  const { statements, database, claim, result, expectedDatabase } = completion;
  refuseLoss(database, claim);
  if (database.dialect.writtenRows(yield statements.complete(claim, result)) === 1) return;
  // The claim no longer matches the row. Read the row to find out why.
  const locked = yield statements.lock(claim);
  const found = foundRunOf(locked);
  if (found === undefined && expectedDatabase !== undefined)
    throw new InvalidLockUseError(
      `Cannot complete ${describeRun(claim)}: the database of its transaction has no such run. Use a transaction in the ledger's database, ${expectedDatabase}.`,
    );
  const { value: verdict, write, events = [] } = decideOutcome(found, claim, { kind: 'completed', result });
  const [row] = locked.rows;
  if (verdict.kind === 'lost' || row === undefined) throw claimLostError(claim, found?.run);
  // This attempt has completed the run before, so committing would apply its effects twice.
  if (write === undefined)
    throw new RunAlreadyCompletedError(
      `Cannot complete ${describeRun(claim)} in this transaction: its row is already completed. Roll the transaction back.`,
    );
  const id = readId(row, describeRun(claim));
  yield statements.write(id, write);
  for (const event of events) yield statements.insertEvent(id, event);
}

/** @throws InvalidLockUseError outside a run, and for a pool or the connection of another driver */
export function checkConnection(value: unknown, isConnection: boolean): void {
  requiredContext(COMPLETE_RUN_IN);
  if (isConnection) return;
  throw new InvalidLockUseError(
    `${COMPLETE_RUN_IN} cannot use ${describeSource(value)}. Pass the connection on which you have begun the transaction.`,
  );
}

export function transactionEnded(claim: Claim): InvalidLockUseError {
  return new InvalidLockUseError(
    `Cannot complete ${describeRun(claim)}: its transaction has already ended. Check whether the job ended it, ran a statement that commits implicitly, or caught an error after which the database rolls back, such as a deadlock.`,
  );
}
