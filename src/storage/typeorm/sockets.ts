import { connect, type Socket } from 'node:net';

/** What mysql2 tells a factory of streams. */
interface StreamRequest {
  readonly config: { readonly socketPath?: string; readonly host?: string; readonly port: number };
}
type StreamFactory = (request: StreamRequest) => Socket;

/** Every socket that mysql2 opens for one DataSource: a server that went silent never ends its side of one. */
export class Sockets {
  readonly #open = new Set<Socket>();

  /** @param given what the application connects with, a connector of its cloud for example */
  factory(given: unknown): StreamFactory {
    return (request) => {
      const socket = typeof given === 'function' ? (given as StreamFactory)(request) : connected(request);
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
      return socket;
    };
  }

  /** Ends what is still open, after what was written. */
  end(): void {
    for (const socket of this.#open) socket.destroySoon();
  }
}

function connected({ config: { socketPath, host, port } }: StreamRequest): Socket {
  if (socketPath) return connect(socketPath);
  const socket = connect({ port, ...(host === undefined ? {} : { host }) });
  return socket.setNoDelay(true).setKeepAlive(true);
}
