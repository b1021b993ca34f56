import { InvalidLockUseError, RunAlreadyCompletedError } from '../../core';
import { checkOptionNames } from '../../core/options';
import { describeRun, type RunKey } from '../../ledger/run';
import { limitOf, type LedgerContext } from '../../ledger/store-statements';
import { decideOutcome } from '../../ledger/tick/decide-outcome';
import { claimLostError, serializeResult } from '../../ledger/tick/record-outcome';
import { requiredContext, type CurrentRun, type RunContext } from '../../ledger/tick/run-context';
import { driverErrorsIn } from './adapted-transaction';
import type { SqlFailureKind } from '../../storage/sql/statements/sql-failure';
import { writtenRows, type SqlResult, type SqlStatement } from '../../storage/sql/statements/statement';
import { describeSource, type GivenTransaction } from '../../storage/sql/database/driver';
import type { SqlDatabase } from '../../storage/sql/connections/sql-database';
import { ChangedSettings, type Limits, type Transaction } from '../../storage/sql/connections/transaction';
import { readId } from '../../storage/sql/ledger/run-rows';
import { foundRunOf, type RunStatements } from '../../storage/sql/ledger/run-statements';
import { refuseLoss, type SqlRunStore } from '../../storage/sql/ledger/sql-run-store';

export const COMPLETE_RUN_IN = 'completeRunIn()';

export type SqlLedger = LedgerContext & { readonly store: SqlRunStore };

/** @throws InvalidLockUseError if the run's guard was not created by this subpath */
export function lenderOf<Lent>(
  { ledger }: RunContext,
  caller: string,
  subpath: string,
): { readonly ledger: SqlLedger; readonly lend: (limits: Limits) => Lent } {
  const sql = isSqlLedger(ledger) ? ledger : undefined;
  const { subpath: own, lend } = sql?.store.database ?? {};
  if (sql !== undefined && own === subpath && lend !== undefined)
    return { ledger: sql, lend: lend as (limits: Limits) => Lent };
  throw new InvalidLockUseError(
    `${caller} needs a run whose guard was created with createJobGuard() of ${subpath}${own === undefined ? '' : `, not of ${own}`}.`,
  );
}

/** @throws InvalidLockUseError if the run is kept in no SQL database, or in another kind than that of its transaction */
export function ledgerIn({ ledger, claim }: RunContext, dialect: GivenTransaction['dialect']): SqlLedger {
  if (!isSqlLedger(ledger))
    throw new InvalidLockUseError(
      `${COMPLETE_RUN_IN} needs a run whose ledger is in an SQL database. Create the guard with createJobGuard(…) of your driver.`,
    );
  const { database } = ledger.store;
  if (dialect === undefined || dialect === database.dialect.name) return ledger;
  throw missingRun(claim, database);
}

/** Checks the shape, because a second installed copy of the library has its own class. */
function isSqlLedger(ledger: LedgerContext | undefined): ledger is SqlLedger {
  const { database, statements } = (ledger?.store ?? {}) as Partial<SqlRunStore>;
  return database !== undefined && typeof statements === 'function';
}

export interface Completion {
  readonly run: RunContext;
  readonly ledger: SqlLedger;
  readonly statements: RunStatements;
  readonly result: string | undefined;
}

export interface CompleteRunOptions {
  /** Stored as the result of the run, if it can be serialized as JSON. */
  readonly result?: unknown;
  /** What `currentRun()` returned at the beginning of the handler. Required on connections that have callbacks. */
  readonly run?: CurrentRun | undefined;
}

/** @throws InvalidLockUseError outside a run, unless the options name one */
export function runOf(options: CompleteRunOptions): RunContext {
  checkOptionNames(options, ['result', 'run'], COMPLETE_RUN_IN);
  return (options.run as RunContext | undefined) ?? requiredContext(COMPLETE_RUN_IN);
}

export async function completeIn(given: GivenTransaction, options: CompleteRunOptions): Promise<void> {
  const run = runOf(options);
  const ledger = ledgerIn(run, given.dialect);
  if (given.hasCallbacks && options.run === undefined)
    throw new InvalidLockUseError(
      `${COMPLETE_RUN_IN} needs the run of the handler on a client of pg and on a connection of mysql2 with callbacks: in a callback, the current run can be that of another job. At the beginning of the handler, set run = currentRun(). Then pass { run }.`,
    );
  run.beginCompletion(COMPLETE_RUN_IN);
  try {
    const statements = await ledger.store.statements(limitOf(ledger));
    const transaction = await given.open(ledger);
    const settings = new ChangedSettings(transaction);
    const { nodeWait } = ledger.store;
    if (nodeWait?.worksInside) await settings.change(nodeWait);
    try {
      const result = serializeResult(ledger, run.claim, options.result);
      await completeInTransaction(transaction, { run, ledger, statements, result });
    } finally {
      await settings.restore();
    }
  } catch (error) {
    run.endCompletion();
    throw completionError(error, run, ledger);
  }
}

/**
 * Nothing is written if another process has taken the run over, because its row has changed.
 *
 * @throws ClaimLostError if another attempt has replaced this one. The transaction must be rolled back.
 * @throws RunAlreadyCompletedError if the row is completed already. The transaction must be rolled back.
 * @throws InvalidLockUseError if the transaction has already ended
 */
export async function completeInTransaction(transaction: Transaction, completion: Completion): Promise<void> {
  // Outside a transaction, the completion would commit alone. That could happen after a deadlock, in which MySQL rolls
  // everything back, if the job catches the error.
  if (!(await transaction.isOpen())) throw transactionEnded(completion.run);
  const steps = completionSteps(completion);
  for (let step = steps.next(); !step.done; step = steps.next(await transaction.send(step.value)));
}

/**
 * The statements of a completion, one after the other: a synchronous driver cannot await their results. The first one also
 * shows whether the transaction is in the ledger's database, because only that has a row with this claim.
 */
export function* completionSteps(completion: Completion): Generator<SqlStatement, void, SqlResult> {
  const { statements, result } = completion;
  const { claim } = completion.run;
  const { database } = completion.ledger.store;
  refuseLoss(database, claim);
  if (writtenRows(yield statements.complete(claim, result), database.dialect) === 1) return;
  // The claim no longer matches the row. Read the row to find out why.
  const locked = yield statements.lock(claim);
  const found = foundRunOf(locked);
  if (found === undefined) throw missingRun(claim, database);
  const { value: verdict, write, events = [] } = decideOutcome(found, claim, { kind: 'completed', result });
  const [row] = locked.rows;
  if (verdict.kind === 'lost' || row === undefined) throw claimLostError(claim, found.run);
  // This attempt has completed the run before, so committing would apply its effects twice.
  if (write === undefined)
    throw new RunAlreadyCompletedError(
      `Cannot complete ${describeRun(claim)} in this transaction: its row is already completed. Roll the transaction back.`,
    );
  const id = readId(row, describeRun(claim));
  yield statements.write(id, write);
  for (const event of events) yield statements.insertEvent(id, event);
}

/** Of a pool or the connection of another driver. */
export function unusableConnection(value: unknown): InvalidLockUseError {
  return new InvalidLockUseError(
    `${COMPLETE_RUN_IN} cannot use ${describeSource(value)}. Pass the connection on which you have begun the transaction.`,
  );
}

/** The error of a completion. In another database, the tables of the ledger can be missing. */
export function completionError(error: unknown, { claim }: RunContext, ledger: SqlLedger): unknown {
  const isMissing = isFailure(error, 'missing-table', ledger);
  return isMissing ? missingRun(claim, ledger.store.database, error) : error;
}

export function isFailure(error: unknown, kind: SqlFailureKind, { store }: SqlLedger): boolean {
  return driverErrorsIn(error).some((each) => store.database.dialect.failureOf(each) === kind);
}

function missingRun(key: RunKey, { address, place }: SqlDatabase, cause?: unknown): InvalidLockUseError {
  return new InvalidLockUseError(
    `Cannot complete ${describeRun(key)}: the database of its transaction has no such run. Use a transaction in the ledger's database, ${address} (${place}). If it is in that database, check what deleted the row, and connect all instances of a cluster to the same server.`,
    cause === undefined ? undefined : { cause },
  );
}

/** What the job has written can be committed, also by statements after the end. So neither it nor a retry may repeat it. */
export function transactionEnded(run: RunContext): InvalidLockUseError {
  run.refusal = new InvalidLockUseError(
    `Cannot complete ${describeRun(run.claim)}: its transaction has already ended. Check whether the job ended it, ran a statement that commits implicitly, such as TRUNCATE or DDL, or caught an error after which the database rolls back, such as a deadlock. Its writes can be committed, so the run is not retried: check them, then call rerun() of operations(guard) to repeat them.`,
  );
  return run.refusal;
}
