import type { Socket } from 'node:net';
import { ProxyLane, type Traffic } from './proxy-lane';
import type { Afterwards } from './sql-proxy/swallow-orders';

/**
 * Receives everything that goes through one connection, in pieces as they arrive, and decides what is
 * forwarded.
 */
export interface Interpreter {
  /** @returns how the connection continues if the piece is lost, or what the piece waits for */
  fromClient(piece: Buffer): Afterwards | undefined;
  fromServer(piece: Buffer): Passage;
  /** The server has ended the connection: returns what was held back, to be forwarded now. */
  rest(): Buffer;
}

export interface Passage {
  readonly bytes: Buffer;
  /** Afterwards the connection is cut, or nothing more is forwarded to the client. */
  readonly then?: Afterwards | undefined;
}

interface ProxiedConnectionOptions {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly traffic: Traffic;
  /** How many pieces the client receives from the server. */
  readonly pieces: number;
  readonly interpreter: Interpreter | undefined;
  readonly onClosed: () => void;
}

/** A client, its server, and the proxy between them. */
export class ProxiedConnection {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #toServer: ProxyLane;
  readonly #toClient: ProxyLane;
  readonly #interpreter: Interpreter | undefined;

  constructor({ client, upstream, traffic, pieces, interpreter, onClosed }: ProxiedConnectionOptions) {
    this.#client = client;
    this.#upstream = upstream;
    this.#toServer = new ProxyLane(upstream, 'to-server', traffic, Infinity);
    this.#toClient = new ProxyLane(client, 'to-client', traffic, pieces);
    this.#interpreter = interpreter;
    client.on('data', (piece: Buffer) => this.#fromClient(piece));
    upstream.on('data', (piece: Buffer) => this.#fromServer(piece));
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      socket.on('error', () => socket.destroy()); // The other side sees the end of the connection.
      socket.on('close', () => client.destroyed && upstream.destroyed && onClosed());
    }
    client.on('close', () => this.#toServer.end());
    upstream.on('close', () => {
      if (interpreter !== undefined) this.#toClient.take(interpreter.rest());
      this.#toClient.end();
    });
  }

  /** The client has gone, and the server has not noticed it. */
  get isHalfOpen(): boolean {
    return this.#client.destroyed && !this.#upstream.destroyed;
  }

  pump(): void {
    this.#toServer.pump();
    this.#toClient.pump();
  }

  /** Nothing more is forwarded to the client. */
  mute(): void {
    this.#toClient.mute();
  }

  /** Nothing more gets through, not even the end, and neither side notices. */
  forget(): void {
    for (const lane of [this.#toServer, this.#toClient]) lane.holdUntil(new Promise(() => {}));
  }

  cut(): void {
    for (const lane of [this.#toServer, this.#toClient]) lane.stop();
    for (const socket of [this.#client, this.#upstream]) socket.destroy();
  }

  #fromClient(piece: Buffer): void {
    // Called first, because a fault may begin with this piece.
    const then = this.#interpreter?.fromClient(piece);
    if (then === 'silence') this.#toServer.mute();
    if (typeof then === 'object') {
      this.#toServer.holdUntil(then.due);
      this.#upstream.once('close', then.arrived);
    }
    if (then === 'cut') this.cut();
    else this.#toServer.take(piece);
  }

  #fromServer(piece: Buffer): void {
    const { bytes, then } = this.#interpreter?.fromServer(piece) ?? { bytes: piece };
    if (bytes.length > 0) this.#toClient.take(bytes);
    if (then === 'cut') this.cut();
    if (then === 'silence') this.mute();
  }
}
