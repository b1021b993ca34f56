import type { Interpreter, Passage } from '../proxied-connection';
import type { StatementKind } from './statement-kind';
import { StatementOrder } from './statement-order';
import type { Afterwards, SwallowOrders } from './swallow-orders';
import type { SentStatement, Wire } from './wire';

export interface ConversationOptions {
  /** Receives each statement before it is forwarded to the server. */
  readonly listen: ((statement: SentStatement) => void) | undefined;
  /** The statements and replies to swallow. */
  readonly statements: SwallowOrders<StatementKind>;
  readonly replies: SwallowOrders<StatementKind>;
}

/**
 * The conversation of a client and a server on one connection. Each reply is forwarded as a whole, or
 * swallowed.
 */
export class Conversation implements Interpreter {
  readonly #wire: Wire;
  readonly #options: ConversationOptions;
  readonly #order = new StatementOrder();
  readonly #kinds = new WeakMap<SentStatement, StatementKind>();

  constructor(wire: Wire, options: ConversationOptions) {
    this.#wire = wire;
    this.#options = options;
  }

  fromClient(piece: Buffer): Afterwards | undefined {
    for (const statement of this.#wire.sent(piece)) {
      this.#options.listen?.(statement);
      const kind = this.#order.kindOf(statement);
      this.#kinds.set(statement, kind);
      const then = this.#options.statements.carryOut(kind);
      if (then !== undefined) return then;
    }
    return undefined;
  }

  fromServer(piece: Buffer): Passage {
    const passed: Buffer[] = [];
    for (const { bytes, statement, isOk } of this.#wire.answered(piece)) {
      const kind = statement && this.#kinds.get(statement);
      const then = kind !== undefined && isOk ? this.#options.replies.carryOut(kind) : undefined;
      if (then !== undefined) return { bytes: Buffer.concat(passed), then };
      passed.push(bytes);
    }
    return { bytes: Buffer.concat(passed) };
  }

  rest(): Buffer {
    return this.#wire.rest();
  }
}
