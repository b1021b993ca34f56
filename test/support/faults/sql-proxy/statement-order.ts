import { textKindOf, type StatementKind } from './statement-kind';
import type { SentStatement } from './wire';

/** The kind of a COMMIT, derived from the statements of its transaction. */
type Decided = 'claim' | 'complete' | 'commit' | 'other';

/** Recognises the statements of one connection, in order. */
export class StatementOrder {
  #transaction: Decided | undefined;

  kindOf(statement: SentStatement): StatementKind {
    if (statement.isPreparation) return 'other';
    const kind = textKindOf(statement.text);
    switch (kind) {
      case 'begin':
        this.#transaction = 'other';
        return 'other';
      case 'commit':
        return this.#end();
      case 'roll-back':
        this.#end();
        return 'other';
      case 'complete-run':
        // The ledger sends it alone, and inside a transaction only in one of the application's.
        return this.#onRun(this.#transaction === undefined ? 'complete' : 'commit');
      case 'release-row':
        return this.#onRun('commit');
      case 'insert-run':
      case 'write-run':
        return this.#onRun(runKindOf(statement));
      case 'insert':
      case 'take-over':
      case 'extend':
      case 'unlock':
      case 'other':
        return kind;
    }
  }

  /** Inside a transaction, a statement takes effect only with its COMMIT. */
  #onRun(kind: Decided): StatementKind {
    if (this.#transaction === undefined) return kind;
    if (this.#transaction === 'other') this.#transaction = kind;
    return 'other';
  }

  #end(): Decided {
    const decided = this.#transaction ?? 'other';
    this.#transaction = undefined;
    return decided;
  }
}

function runKindOf({ message }: SentStatement): 'claim' | 'complete' | 'other' {
  if (hasValue(message, 'running')) return 'claim';
  return hasValue(message, 'completed') ? 'complete' : 'other';
}

/** In both protocols a byte with its length precedes a short value. */
function hasValue(message: Buffer, value: string): boolean {
  return message.includes(Buffer.from([value.length, ...Buffer.from(value)]));
}
