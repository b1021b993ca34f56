import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Passes connections on to a server, and counts round trips. */
export interface TripCounter extends AsyncDisposable {
  /** The address with the port of this counter. */
  readonly url: string;
  /** So often has a client sent something after the server's last answer, on all connections since the last call. */
  take(): number;
}

export async function countTrips(serverUrl: string): Promise<TripCounter> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let trips = 0;
  const counter = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    let isAnswered = true;
    client.on('data', (data) => {
      if (isAnswered) trips += 1;
      isAnswered = false;
      server.write(data);
    });
    server.on('data', (data) => {
      isAnswered = true;
      client.write(data);
    });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      // Its `close` follows.
      from.on('error', () => {});
    }
  });
  counter.listen(0, '127.0.0.1');
  await once(counter, 'listening');
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((counter.address() as AddressInfo).port);
  return {
    url: url.href,
    take() {
      const taken = trips;
      trips = 0;
      return taken;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      counter.close();
      await once(counter, 'close');
    },
  };
}
