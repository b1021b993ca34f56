import { targetOf, tcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy';

/** Each name is as long as the name of the table that it replaces. */
export const REPLICAS = { shedlock: 'replica1', cronlatch_run: 'replica_of_it' } as const;

export interface SplittingProxy extends Pick<TcpProxy, 'port' | 'close'> {
  /** The number of reads that a replica answered. */
  readonly diverted: number;
}

/**
 * A proxy that sends plain reads to a replica without any data: to empty tables in the same database. Like
 * the usual rules, it treats a locking read as a write.
 */
export async function splitter(url: string): Promise<SplittingProxy> {
  let diverted = 0;
  const interpret = () => ({
    fromClient(piece: Buffer): undefined {
      const text = piece.toString('latin1');
      if (!/SELECT\s/.test(text) || /INSERT|UPDATE|DELETE/.test(text)) return;
      for (const [table, replica] of Object.entries(REPLICAS)) {
        // The events have no replica; their table's name begins with the same letters.
        for (const { index } of text.matchAll(new RegExp(`\\b${table}\\b`, 'g'))) {
          piece.write(replica, index, 'latin1');
          diverted += 1;
        }
      }
    },
    fromServer: (bytes: Buffer) => ({ bytes }),
    rest: () => Buffer.alloc(0),
  });
  const proxy = await tcpProxy(targetOf(url), { interpret });
  return {
    port: proxy.port,
    close: () => proxy.close(),
    get diverted() {
      return diverted;
    },
  };
}
