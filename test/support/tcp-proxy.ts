import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { ProxiedConnection, type Interpreter } from './proxied-connection';
import type { Direction } from './proxy-lane';

/** A way to a server that a test can close, open and clog. */
export interface TcpProxy {
  readonly port: number;
  /** From now on nobody gets through, and who was through is cut off. */
  close(): Promise<void>;
  open(): Promise<void>;
  /** Cuts all connections now; returns how many. New ones get through. */
  cut(): number;
  /**
   * Nothing gets through in this direction, ends of connections neither, but nobody is told. It arrives when the traffic
   * flows again, unless its connection is cut before.
   */
  stall(direction?: Direction | 'both'): void;
  flow(): void;
  /** Each piece is held up for so long (0 ends it), and also goes on byte by byte if asked. */
  delay(milliseconds: number, options?: { readonly bytewise?: boolean }): void;
  /** Each new connection gets that many pieces from the server, and then nothing any more. */
  stallNewAfter(pieces: number): void;
  /** Who is connected now still gets through, but hears nothing any more; new connections do. */
  deafen(): void;
  /** Of how many connections the client has gone, and the server has not been told. */
  readonly halfOpen: number;
}

interface ProxyOptions {
  /** Called for each new connection. */
  readonly interpret?: () => Interpreter;
}

export async function tcpProxy(
  target: { host: string; port: number },
  { interpret }: ProxyOptions = {},
): Promise<TcpProxy> {
  const connections = new Set<ProxiedConnection>();
  const traffic = { stalled: new Set<Direction>(), delayMs: 0, isBytewise: false };
  let piecesForNew = Infinity;
  const server = createServer((client) => {
    const connection = new ProxiedConnection({
      ...{ client, upstream: connect(target), traffic, pieces: piecesForNew, interpreter: interpret?.() },
      onClosed: () => connections.delete(connection),
    });
    connections.add(connection);
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
      for (const connection of connections) connection.cut();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
    open: () => listen(port),
    cut() {
      const { size } = connections;
      for (const connection of connections) connection.cut();
      return size;
    },
    stall(direction = 'both') {
      for (const each of ['to-server', 'to-client'] as const)
        if (direction === each || direction === 'both') traffic.stalled.add(each);
    },
    flow() {
      traffic.stalled.clear();
      piecesForNew = Infinity;
      for (const connection of connections) connection.pump();
    },
    delay(milliseconds, { bytewise = false } = {}) {
      traffic.delayMs = milliseconds;
      traffic.isBytewise = bytewise;
    },
    stallNewAfter: (pieces) => void (piecesForNew = pieces),
    deafen() {
      for (const connection of connections) connection.mute();
    },
    get halfOpen() {
      return [...connections].filter(({ isHalfOpen }) => isHalfOpen).length;
    },
  };
}

/** The same URL by way of the proxy. */
export function throughProxy(url: string, { port }: { readonly port: number }): string {
  const through = new URL(url);
  through.port = String(port);
  return through.href;
}

export function targetOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
