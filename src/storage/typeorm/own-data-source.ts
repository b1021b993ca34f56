import { connect, Socket } from 'node:net';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { Clock } from '../../core';
import { withinLimit } from '../../core/clock';

/** A DataSource of our own, opened at its first use, and again after an attempt that failed. */
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
    const dataSource = await opening.catch(() => undefined); // What never opened needs no closing.
    // A silent server never answers, and a connection that breaks meanwhile is closed as well.
    const goodbye = dataSource?.destroy().catch(() => undefined);
    await withinLimit(this.clock, Promise.resolve(goodbye), this.limitMs);
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
      // Nobody uses a DataSource that arrives late.
      void initializing.then((late) => late.destroy()).catch(() => undefined);
      sockets.end();
      throw error;
    }
  }
}

/** What mysql2 passes to a factory of streams. */
interface StreamRequest {
  readonly config: { readonly socketPath?: string; readonly host?: string; readonly port: number };
}

/** The sockets that a driver opened for one DataSource. A silent server never ends its side, so we end ours. */
export class Sockets {
  readonly #open = new Set<Socket>();

  /** @param given the application's own factory, for example its cloud provider's connector */
  ofMysql(given: unknown): (request: StreamRequest) => Socket {
    return (request) => this.#keep(made(given, request) ?? connected(request));
  }

  /** pg connects the socket by itself. @param given as above */
  ofPostgres(given: unknown): (configuration: unknown) => Socket {
    return (configuration) => this.#keep(made(given, configuration) ?? new Socket());
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

function made<Request>(given: unknown, request: Request): Socket | undefined {
  return typeof given === 'function' ? (given as (request: Request) => Socket)(request) : undefined;
}

function connected({ config: { socketPath, host, port } }: StreamRequest): Socket {
  if (socketPath) return connect(socketPath);
  const socket = connect({ port, ...(host === undefined ? {} : { host }) });
  return socket.setNoDelay(true).setKeepAlive(true);
}
