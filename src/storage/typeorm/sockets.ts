import { connect, Socket } from 'node:net';

/** What mysql2 tells a factory of streams. */
interface StreamRequest {
  readonly config: { readonly socketPath?: string; readonly host?: string; readonly port: number };
}

/** Every socket that a driver opens for one DataSource: a server that went silent never ends its side of one. */
export class Sockets {
  readonly #open = new Set<Socket>();

  /** @param given what the application connects with, a connector of its cloud for example */
  ofMysql(given: unknown): (request: StreamRequest) => Socket {
    return (request) => this.#keep(made(given, request) ?? connected(request));
  }

  /** pg connects the socket by itself. @param given as above */
  ofPostgres(given: unknown): (configuration: unknown) => Socket {
    return (configuration) => this.#keep(made(given, configuration) ?? new Socket());
  }

  /** Ends what is still open, after what was written. */
  end(): void {
    for (const socket of this.#open) socket.destroySoon();
  }

  #keep(socket: Socket): Socket {
    this.#open.add(socket);
    return socket.once('close', () => this.#open.delete(socket));
  }
}

function made<Request>(given: unknown, request: Request): Socket | undefined {
  return typeof given === 'function' ? (given as (request: Request) => Socket)(request) : undefined;
}

function connected({ config: { socketPath, host, port } }: StreamRequest): Socket {
  if (socketPath) return connect(socketPath);
  const socket = connect({ port, ...(host === undefined ? {} : { host }) });
  return socket.setNoDelay(true).setKeepAlive(true);
}
