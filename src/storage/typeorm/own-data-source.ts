import { connect, Socket } from 'node:net';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { Clock } from '../../core';
import { withinLimit } from '../../core/clock';

/** A DataSource of our own. It is opened at first use; after a failure, the next use opens it again. */
export class OwnDataSource {
  #opening: Promise<DataSource> | undefined;
  #sockets = new Sockets();

  constructor(
    private readonly options: (sockets: Sockets) => DataSourceOptions,
    private readonly clock: Clock,
    private readonly limitMs: number,
  ) {}

  get(): Promise<DataSource> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    if (opening === undefined) return;
    const dataSource = await opening.catch(() => undefined); // If it never opened, there is nothing to close.
    // Errors do not matter, because a broken connection is closed too. The limit covers a server that does not answer.
    const closing = dataSource?.destroy().catch(() => undefined);
    await withinLimit(this.clock, Promise.resolve(closing), this.limitMs);
    this.#sockets.end();
  }

  async #open(): Promise<DataSource> {
    const sockets = (this.#sockets = new Sockets());
    const initializing = new DataSource(this.options(sockets)).initialize();
    try {
      const dataSource = await withinLimit(this.clock, initializing, this.limitMs);
      if (dataSource !== 'time-out') return dataSource;
      throw new Error(`the database did not answer within ${this.limitMs} ms`);
    } catch (error) {
      this.#opening = undefined;
      // No caller gets a DataSource that opens too late.
      void initializing.then((late) => late.destroy()).catch(() => undefined);
      sockets.end();
      throw error;
    }
  }
}

/** mysql2 passes this to a factory of streams. */
interface StreamRequest {
  readonly config: { readonly socketPath?: string; readonly host?: string; readonly port: number };
}

/** The sockets that a driver opened for one DataSource. A silent server never ends its side, so we end ours. */
export class Sockets {
  readonly #open = new Set<Socket>();

  /** @param factory the application's own, for example the connector of its cloud provider */
  ofMysql(factory: unknown): (request: StreamRequest) => Socket {
    return (request) => this.#keep(createSocket(factory, request) ?? connectSocket(request));
  }

  /** pg itself connects the socket. @param factory as above */
  ofPostgres(factory: unknown): (configuration: unknown) => Socket {
    return (configuration) => this.#keep(createSocket(factory, configuration) ?? new Socket());
  }

  /** Ends the open sockets after their data is sent. */
  end(): void {
    for (const socket of this.#open) socket.destroySoon();
  }

  #keep(socket: Socket): Socket {
    this.#open.add(socket);
    return socket.once('close', () => this.#open.delete(socket));
  }
}

function createSocket<Request>(factory: unknown, request: Request): Socket | undefined {
  return typeof factory === 'function' ? (factory as (request: Request) => Socket)(request) : undefined;
}

function connectSocket({ config: { socketPath, host, port } }: StreamRequest): Socket {
  if (socketPath) return connect(socketPath);
  const socket = connect({ port, ...(host === undefined ? {} : { host }) });
  return socket.setNoDelay(true).setKeepAlive(true);
}
