import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { ProxiedConnection, type Interpreter } from './proxied-connection';
import type { Direction } from './proxy-lane';

/** A way to a server that a test can close, open and clog. */
export interface TcpProxy {
  readonly port: number;
  /** From now on no connection gets through, and existing ones are cut. */
  close(): Promise<void>;
  open(): Promise<void>;
  /** Cuts all connections now; returns how many. New ones get through. */
  cut(): number;
  /**
   * Nothing gets through in this direction, not even ends of connections, and neither side notices. It
   * arrives when the traffic flows again, unless its connection is cut before.
   */
  stall(direction?: Direction | 'both'): void;
  flow(): void;
  /** Delays each piece by this time (0 ends it), and forwards it byte by byte if requested. */
  delay(milliseconds: number, options?: { readonly bytewise?: boolean }): void;
  /** Each new connection gets this many pieces from the server, and then nothing more. */
  stallNewAfter(pieces: number): void;
  /** Existing connections still get through to the server, but receive nothing more; new connections work. */
  deafen(): void;
  /** As a firewall that has forgotten these connections: nothing more gets through. New connections work. */
  forget(which: 'all' | 'first' | 'last'): void;
  /** The number of connections whose client has gone without the server noticing it. */
  readonly halfOpen: number;
}

interface ProxyOptions {
  /** Called for each new connection. */
  readonly interpret?: () => Interpreter;
}

interface Target {
  readonly host: string;
  readonly port: number;
}

/** @param targets each new connection goes to the next of them */
export async function tcpProxy(
  targets: Target | readonly Target[],
  { interpret }: ProxyOptions = {},
): Promise<TcpProxy> {
  const connections = new Set<ProxiedConnection>();
  const traffic = { stalled: new Set<Direction>(), delayMs: 0, isBytewise: false };
  let piecesForNew = Infinity;
  const targetList = [targets].flat();
  let next = 0;
  const server = createServer((client) => {
    const target = targetList[next++ % targetList.length]!;
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
  const port = await listenAnywhere(listen);
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
    forget(which) {
      const all = [...connections];
      const forgotten = { all, first: all.slice(0, 1), last: all.slice(-1) }[which];
      for (const connection of forgotten) connection.forget();
    },
    get halfOpen() {
      return [...connections].filter(({ isHalfOpen }) => isHalfOpen).length;
    },
  };
}

/** On a port that the system gives to no other process while the proxy is closed: see servers/free-port.mjs. */
async function listenAnywhere(listen: (port: number) => Promise<void>): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    try {
      await listen(port);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** The same URL through the proxy. */
export function throughProxy(url: string, { port }: { readonly port: number }): string {
  const through = new URL(url);
  through.port = String(port);
  return through.href;
}

export function targetOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
