import type { ServerName } from '../../databases/fresh';
import { tcpProxy, type TcpProxy } from '../tcp-proxy';
import { Conversation, type ConversationOptions } from './conversation';
import { MysqlWire } from './mysql-wire';
import { PostgresWire } from './postgres-wire';
import type { StatementKind } from './statement-kind';
import { SwallowOrders, type Delay } from './swallow-orders';

export type { StatementKind } from './statement-kind';

/** A proxy in front of a database that recognises the library's statements. */
export interface SqlProxy extends Omit<TcpProxy, 'deafen' | 'stallNewAfter'> {
  /**
   * Swallows the next reply to a statement of this kind, after the server has completed it. Then the
   * connection is cut, or stays silent. Resolves when it has happened.
   */
  swallow(kind: StatementKind, then: 'cut' | 'silence'): Promise<void>;
  /** The next statement of this kind never reaches the server; then as above. */
  lose(kind: StatementKind, then: 'cut' | 'silence'): Promise<void>;
  /** The next statement of this kind waits in the proxy until the test delivers it. */
  hold(kind: StatementKind): HeldStatement;
  /** How many replies of each kind were swallowed so far. */
  readonly swallowed: ReadonlyMap<StatementKind, number>;
}

export interface HeldStatement {
  /** Resolves when the client has sent the statement. */
  readonly sent: Promise<void>;
  /**
   * Forwards the statement. Resolves when the server has processed it: its client must have closed the
   * connection.
   */
  deliver(): Promise<void>;
}

interface SqlProxyOptions {
  readonly listen?: ConversationOptions['listen'];
}

export type SqlProtocol = 'mysql' | 'postgres';

const WIRES = { mysql: MysqlWire, postgres: PostgresWire };

export async function sqlProxy(
  target: { host: string; port: number },
  protocol: SqlProtocol,
  { listen }: SqlProxyOptions = {},
): Promise<SqlProxy> {
  const statements = new SwallowOrders<StatementKind>();
  const replies = new SwallowOrders<StatementKind>();
  const interpret = (): Conversation =>
    new Conversation(new WIRES[protocol](), { listen, statements, replies });
  const proxy = await tcpProxy(target, { interpret });
  return Object.assign(proxy, {
    swallow: (kind: StatementKind, then: 'cut' | 'silence') => replies.place(kind, then),
    lose: (kind: StatementKind, then: 'cut' | 'silence') => statements.place(kind, then),
    hold: (kind: StatementKind) => heldStatement((delay) => statements.place(kind, delay)),
    swallowed: replies.swallowed,
  });
}

export function heldStatement(place: (delay: Delay) => Promise<void>): HeldStatement {
  let goOn = (): void => {};
  let arrived = (): void => {};
  const due = new Promise<void>((resolve) => (goOn = resolve));
  const arrival = new Promise<void>((resolve) => (arrived = resolve));
  return {
    sent: place({ due, arrived }),
    deliver() {
      goOn();
      return arrival;
    },
  };
}

export function protocolOf(server: ServerName): SqlProtocol {
  return server === 'postgres' ? 'postgres' : 'mysql';
}
