import type { Interpreter, Passage } from '../proxied-connection';
import { heldStatement, type HeldStatement } from '../sql-proxy/sql-proxy';
import { SwallowOrders, type Afterwards } from '../sql-proxy/swallow-orders';
import { tcpProxy, type TcpProxy } from '../tcp-proxy';
import { RECOGNISERS, type LockProtocol, type LockStatement, type Recogniser } from './lock-statements';

/** A proxy in front of Redis, etcd or ZooKeeper that recognises the library's statements. */
export interface LockProxy extends TcpProxy {
  /**
   * Forwards the next statement of this kind, and swallows what the server answers after it. Then the connection is cut,
   * or stays silent. Resolves when the statement has been sent.
   */
  swallow(statement: LockStatement, then: 'cut' | 'silence'): Promise<void>;
  /** The next statement of this kind, and what its connection sends after it, waits until the test delivers it. */
  hold(statement: LockStatement): HeldStatement;
  readonly swallowed: ReadonlyMap<LockStatement, number>;
}

export async function lockProxy(
  target: { host: string; port: number },
  protocol: LockProtocol,
): Promise<LockProxy> {
  const statements = new SwallowOrders<LockStatement>();
  const replies = new SwallowOrders<LockStatement>();
  const interpret = (): Interpreter => new Conversation(RECOGNISERS[protocol](), statements, replies);
  const proxy = await tcpProxy(target, { interpret });
  return Object.assign(proxy, {
    swallow: (statement: LockStatement, then: 'cut' | 'silence') => replies.place(statement, then),
    hold: (statement: LockStatement) => heldStatement((delay) => statements.place(statement, delay)),
    swallowed: replies.swallowed,
  });
}

class Conversation implements Interpreter {
  /** What happens when the server answers. */
  #then: Afterwards | undefined;

  constructor(
    private readonly recognise: Recogniser,
    private readonly statements: SwallowOrders<LockStatement>,
    private readonly replies: SwallowOrders<LockStatement>,
  ) {}

  fromClient(piece: Buffer): Afterwards | undefined {
    for (const statement of this.recognise(piece)) {
      const held = this.statements.carryOut(statement);
      if (held !== undefined) return held;
      this.#then ??= this.replies.carryOut(statement);
    }
    return undefined;
  }

  fromServer(piece: Buffer): Passage {
    const then = this.#then;
    this.#then = undefined;
    return then === undefined ? { bytes: piece } : { bytes: Buffer.alloc(0), then };
  }

  rest(): Buffer {
    return Buffer.alloc(0);
  }
}
