import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a server that a test can close, open and clog. */
export interface TcpProxy {
  readonly port: number;
  /** From now on nobody gets through, and who was through is cut off. */
  close(): Promise<void>;
  open(): Promise<void>;
  /** From now on nothing gets through, but nobody is told. */
  stall(): void;
  /** Each new connection gets that many pieces from the server, and then nothing any more. */
  stallNewAfter(pieces: number): void;
  flow(): void;
}

export async function tcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let stalled = false;
  let piecesForNew = Infinity;
  const server = createServer((client) => {
    const upstream = connect(target);
    let piecesLeft = piecesForNew;
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => {
        if (from === upstream) piecesLeft -= 1;
        if (!stalled && piecesLeft >= 0) to.write(chunk);
      });
      from.on('error', () => to.destroy()); // A cut on one side is a cut on the other.
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async close() {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
    open: () => listen(port),
    stall: () => void (stalled = true),
    stallNewAfter: (pieces) => void (piecesForNew = pieces),
    flow() {
      stalled = false;
      piecesForNew = Infinity;
    },
  };
}

/** The same URL by way of the proxy. */
export function throughProxy(url: string, { port }: TcpProxy): string {
  const through = new URL(url);
  through.port = String(port);
  return through.href;
}

export function targetOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
