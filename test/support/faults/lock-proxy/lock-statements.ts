import { ACQUIRE, EXTEND, UNLOCK } from '#cronlatch/storage/redis/redis-scripts';
import { Frames } from '../sql-proxy/frames';

/** What a client asks a lock store for. */
export type LockStatement = 'grant' | 'extend' | 'release';

/** Finds the statements in a piece of what a client sends. One that is cut in two pieces may be missed. */
export type Recogniser = (piece: Buffer) => readonly LockStatement[];

export type LockProtocol = 'redis' | 'etcd' | 'zookeeper';

/** A recogniser for one connection. */
export const RECOGNISERS: Readonly<Record<LockProtocol, () => Recogniser>> = {
  redis: () => inText([ACQUIRE.sha1, 'grant'], [EXTEND.sha1, 'extend'], [UNLOCK.sha1, 'release']),
  etcd: () =>
    inText(
      ['"target":"CREATE"', 'grant'],
      ['"request_delete_range"', 'release'],
      ['"target":"LEASE"', 'extend'],
    ),
  zookeeper: inFrames,
};

/** The first match counts. */
function inText(...marks: readonly (readonly [mark: string, LockStatement])[]): Recogniser {
  return (piece) => {
    const text = piece.toString('latin1');
    const found = marks.find(([mark]) => text.includes(mark));
    return found === undefined ? [] : [found[1]];
  };
}

/** The operations of ZooKeeper: create, delete and setData. */
const OPERATIONS: Readonly<Record<number, LockStatement>> = { 1: 'grant', 2: 'release', 5: 'extend' };

/** Each message is its length, a number, the operation, and more. The first one opens the session. */
function inFrames(): Recogniser {
  const frames = new Frames((unread) => (unread.length < 4 ? undefined : 4 + unread.readInt32BE(0)));
  let isOpen = false;
  return (piece) => {
    const found: LockStatement[] = [];
    for (const frame of frames.read(piece)) {
      const statement = isOpen && frame.length >= 12 ? OPERATIONS[frame.readInt32BE(8)] : undefined;
      if (statement !== undefined) found.push(statement);
      isOpen = true;
    }
    return found;
  };
}
