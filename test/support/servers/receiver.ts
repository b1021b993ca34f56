import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Notice } from 'cronlatch/notify';
import { eventually } from '../clocks/eventually';

/** A request that a webhook has sent. */
export interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly notice: Notice;
}

/** What a server does with a request. */
export type Answer = (response: ServerResponse) => unknown;

export const ANSWERS = {
  ok: (response) => response.writeHead(204).end(),
  fails: (response) => response.writeHead(500).end('no disk'),
  redirects: (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
  hangs: () => {},
  'closes the connection': (response) => response.destroy(),
} satisfies Record<string, Answer>;

/** An HTTP server on this host that keeps the requests of webhooks. */
export class Receiver {
  readonly received: Received[] = [];
  answer: Answer = ANSWERS.ok;
  port = 0;
  readonly #server = createServer((request, response) => void this.#receive(request, response));
  /** Part of the address that nothing may show. */
  readonly path = '/T0-top-secret-path';

  static async open(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    receiver.port = (receiver.#server.address() as AddressInfo).port;
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}${this.path}`;
  }

  get notices(): readonly Notice[] {
    return this.received.map(({ notice }) => notice);
  }

  /** Waits for so many requests in all. */
  async requests(count: number): Promise<readonly Received[]> {
    await eventually(() => this.received.length >= count, `${count} requests of a webhook`);
    return this.received;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    this.received.push({ headers: request.headers, body, notice: JSON.parse(body) as Notice });
    this.answer(response);
  }
}

/** As a receiver checks it with a library of Standard Webhooks. */
export function isSigned({ headers, body }: Received, key: string | Buffer): boolean {
  const [id, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']];
  const signature = createHmac('sha256', key).update(`${String(id)}.${String(timestamp)}.${body}`);
  return headers['webhook-signature'] === `v1,${signature.digest('base64')}`;
}
