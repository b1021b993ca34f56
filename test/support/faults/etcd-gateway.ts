import { once } from 'node:events';
import { createServer, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { etcdEndpoint } from '../stores/etcd-place';

export interface SentRequest {
  /** Without `/v3/`. */
  readonly path: string;
  readonly body: {
    readonly ID?: string;
    readonly TTL?: number;
    readonly success?: readonly object[];
    readonly name?: string;
    readonly password?: string;
  };
  readonly token: string | undefined;
}

/**
 * What happens to a request: its reply is lost; it is kept until `release` sends it, and its sender is cut off; or it gets
 * another answer, and the server nothing, unless it `ran`.
 */
export type Fault = 'lose-reply' | 'keep' | FalseAnswer;

interface FalseAnswer {
  readonly status?: number;
  readonly answer: string | object;
  readonly ran?: boolean;
}

/** A way to a gateway that records the requests and can lose, keep or answer them. */
export interface ObservedGateway {
  readonly url: string;
  readonly requests: readonly SentRequest[];
  /** The paths of the requests since the last call. */
  takePaths(): readonly string[];
  /** How many watches have begun and not ended. */
  readonly openStreams: number;
  /** Called for each request. */
  fault: (sent: SentRequest) => Fault | undefined;
  /** Sends the requests that were kept. @returns the answers of the server */
  release(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function observedGateway(target = etcdEndpoint()): Promise<ObservedGateway> {
  const requests: SentRequest[] = [];
  const kept: (() => Promise<string>)[] = [];
  const streams = new Set<ServerResponse>();
  let taken = 0;
  const server = createServer((incoming, outgoing) => {
    void text(incoming).then((json) => {
      const path = (incoming.url ?? '').replace('/v3/', '');
      const { authorization } = incoming.headers;
      const sent = { path, body: JSON.parse(json) as SentRequest['body'], token: authorization };
      requests.push(sent);
      const fault = gateway.fault(sent);
      const forward = (to: ServerResponse | undefined): Promise<string> =>
        forwardTo(new URL(incoming.url ?? '', target), json, to, path === 'watch' ? streams : undefined);
      if (fault === undefined) void forward(outgoing).catch(() => outgoing.destroy());
      else if (fault === 'lose-reply') void forward(undefined).finally(() => outgoing.destroy());
      else if (fault === 'keep') {
        kept.push(() => forward(undefined));
        outgoing.destroy();
      } else {
        const { status = 200, answer, ran = false } = fault;
        const falsely = (): void =>
          void outgoing.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
        if (ran) void forward(undefined).finally(falsely);
        else falsely();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gateway: ObservedGateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get openStreams() {
      return streams.size;
    },
    takePaths() {
      const paths = requests.slice(taken).map(({ path }) => path);
      taken = requests.length;
      return paths;
    },
    fault: () => undefined,
    release: () => Promise.all(kept.splice(0).map((send) => send())),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return gateway;
}

/** Without the token: the server of the tests has no authentication. */
function forwardTo(
  url: URL,
  body: string,
  to: ServerResponse | undefined,
  streams?: Set<ServerResponse>,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'POST', agent: false }, (response) => {
      to?.writeHead(response.statusCode ?? 0);
      to?.flushHeaders();
      if (to !== undefined) response.pipe(to);
      if (to !== undefined) response.once('data', () => streams?.add(to));
      text(response).then(resolve, reject);
    });
    to?.on('close', () => {
      request.destroy();
      streams?.delete(to);
    });
    request.on('error', reject);
    request.end(body);
  });
}
