import type { Random } from '#cronlatch/contracts/random';
import type { ServerName } from '../../../support/databases/fresh';
import { lockProxy } from '../../../support/faults/lock-proxy/lock-proxy';
import type { LockProtocol, LockStatement } from '../../../support/faults/lock-proxy/lock-statements';
import {
  protocolOf,
  sqlProxy,
  type HeldStatement,
  type StatementKind,
} from '../../../support/faults/sql-proxy/sql-proxy';
import { targetOf, type TcpProxy } from '../../../support/faults/tcp-proxy';

/** A worker's way to one server, on which the faults of connections strike. */
export interface CampaignProxy extends Pick<TcpProxy, 'port' | 'cut' | 'stall' | 'flow' | 'delay' | 'close'> {
  /** Swallows the reply to the next statement of some kind. Resolves when it has happened. */
  swallow(random: Random, then: 'cut' | 'silence'): Promise<void>;
  /** Holds back the next statement of some kind. A later statement of the same lease may overtake it. */
  hold(random: Random): HeldStatement;
  /** The number of swallowed replies by kind of statement, whose statements took effect. */
  readonly swallowed: ReadonlyMap<string, number>;
}

const SWALLOWED: readonly StatementKind[] = [
  'insert',
  'take-over',
  'extend',
  'unlock',
  'claim',
  'complete',
  'commit',
];
const DELIVERED_LATE: readonly StatementKind[] = ['extend', 'extend', 'take-over', 'unlock'];

export async function proxyToDatabase(url: string, server: ServerName): Promise<CampaignProxy> {
  return choosing(await sqlProxy(targetOf(url), protocolOf(server)), SWALLOWED, DELIVERED_LATE);
}

const STATEMENTS: readonly LockStatement[] = ['grant', 'grant', 'extend', 'release'];

export async function proxyToLocks(url: string, protocol: LockProtocol): Promise<CampaignProxy> {
  return choosing(await lockProxy(targetOf(url), protocol), STATEMENTS, STATEMENTS);
}

interface Choosable<Kind> extends Pick<TcpProxy, 'port' | 'cut' | 'stall' | 'flow' | 'delay' | 'close'> {
  swallow(kind: Kind, then: 'cut' | 'silence'): Promise<void>;
  hold(kind: Kind): HeldStatement;
  readonly swallowed: ReadonlyMap<string, number>;
}

function choosing<Kind>(
  proxy: Choosable<Kind>,
  swallowed: readonly Kind[],
  late: readonly Kind[],
): CampaignProxy {
  return {
    port: proxy.port,
    cut: () => proxy.cut(),
    stall: (direction) => proxy.stall(direction),
    flow: () => proxy.flow(),
    delay: (milliseconds, options) => proxy.delay(milliseconds, options),
    close: () => proxy.close(),
    swallow: (random, then) => proxy.swallow(random.pick(swallowed), then),
    hold: (random) => proxy.hold(random.pick(late)),
    swallowed: proxy.swallowed,
  };
}
