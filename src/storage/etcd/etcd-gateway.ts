import { Agent as HttpAgent, request as httpRequest, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { LockStorageError, type Clock } from '../../core';
import { answerOf, brokenOff, isFailure, parsed } from './etcd-answer';
import type { Answer, Break, EtcdAnswer } from './etcd-answer';
import type { EtcdLockProviderOptions } from './etcd-options';

/** A stream can end without either side noticing it. So the wait ends after this time, too. */
const LONGEST_WATCH_MS = 60_000;
const STALE_TOKEN = /invalid auth token|revision of auth store is old/;

export interface CallOptions {
  readonly subject: string;
  /** The end of the time limit, monotonic. */
  readonly endsAtMs: number;
  /** Whether the request decides who holds the lock. Any other one leaves the lock as it is, and can be repeated. */
  readonly decides?: boolean;
}

/** The JSON gateway of a cluster, over connections of its own. */
export class EtcdGateway {
  readonly #agent: HttpAgent | HttpsAgent;
  /** The one that answered last comes first. */
  readonly #endpoints: URL[];
  readonly #credentials: object | undefined;
  #token: Promise<string> | undefined;
  #isClosed = false;

  constructor(
    endpoints: readonly URL[],
    { user, password, ca, cert, key }: EtcdLockProviderOptions,
    private readonly clock: Clock,
  ) {
    this.#endpoints = [...endpoints];
    this.#agent = endpoints.some(isSecure)
      ? new HttpsAgent({ keepAlive: true, ca, cert, key })
      : new HttpAgent({ keepAlive: true });
    if (user !== undefined) this.#credentials = { name: user, password };
  }

  /**
   * Asks the endpoints in turn, as long as certainly none of them has executed the request.
   *
   * @throws LockStorageError
   */
  async call(path: string, body: object, options: CallOptions): Promise<EtcdAnswer> {
    for (let isRepeated = false; ; isRepeated = true) {
      const login = this.#login(options);
      try {
        return await this.#ask(path, body, options, await login);
      } catch (error) {
        if (isRepeated || !isFailure(error, STALE_TOKEN)) throw error;
        if (this.#token === login) this.#token = undefined;
      }
    }
  }

  /**
   * Resolves at the first event of a watch, when its stream ends, or with the signal.
   *
   * @throws LockStorageError if the watch does not begin
   */
  async watchOnce(body: object, options: CallOptions, signal: AbortSignal): Promise<void> {
    const watch = this.#request(this.#endpoints[0] as URL, '/v3/watch', await this.#login(options));
    const ended = untilEvent(watch, signal, this.clock);
    if (this.#isClosed) watch.destroy();
    else watch.end(JSON.stringify(body));
    await ended;
  }

  /** Ends everything that is still under way. A request that comes later is answered, but a stream does not begin. */
  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }

  #login(options: CallOptions): Promise<string> | undefined {
    if (this.#credentials === undefined || this.#token !== undefined) return this.#token;
    const limits = { ...options, decides: false };
    const asked = this.#ask('/v3/auth/authenticate', this.#credentials, limits, undefined);
    const login = asked.then(({ token }) => String(token));
    this.#token = login;
    login.catch(() => (this.#token = undefined)); // The caller gets the error.
    return login;
  }

  async #ask(
    path: string,
    body: object,
    { subject, endsAtMs, decides = false }: CallOptions,
    token: string | undefined,
  ): Promise<EtcdAnswer> {
    // One try more, because an idle connection may have ended.
    for (let untried = this.#endpoints.length + 1; ; untried -= 1) {
      const endpoint = this.#endpoints[0] as URL;
      const leftMs = Math.max(0, endsAtMs - this.clock.monotonicMs());
      // A decision has no other try once it was sent.
      const limitMs = decides ? leftMs : leftMs / untried;
      const answer = await this.#send(this.#request(endpoint, path, token), body, limitMs);
      if ('json' in answer) return answer.json;
      const { why, isOfEndpoint, code: driverCode, cause } = answer.failure;
      const outcome =
        answer.failure.outcome === 'unknown' && !decides ? 'nothing-ran' : answer.failure.outcome;
      if (isOfEndpoint && this.#endpoints[0] === endpoint)
        this.#endpoints.push(...this.#endpoints.splice(0, 1));
      const isNextAsked = isOfEndpoint && outcome === 'nothing-ran' && untried > 1;
      if (isNextAsked && this.clock.monotonicMs() < endsAtMs) continue;
      const message = `etcd at ${endpoint.host} failed on lock '${subject}': ${why}`;
      throw new LockStorageError(message, { outcome, driverCode, cause });
    }
  }

  #request(endpoint: URL, path: string, token: string | undefined): ClientRequest {
    const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: token }) };
    const options = { method: 'POST', agent: this.#agent, headers };
    const url = new URL(path, endpoint);
    return isSecure(url) ? httpsRequest(url, options) : httpRequest(url, options);
  }

  #send(request: ClientRequest, body: object, limitMs: number): Promise<Answer> {
    return new Promise((resolve) => {
      let isSent = false;
      const expire = (): void => {
        if (isSent) this.#closeIdle();
        fail({ message: `it did not answer within ${Math.round(limitMs)} ms` });
        request.destroy();
      };
      const cancel = this.clock.schedule(limitMs, expire, { keepAlive: true });
      const end = (answer: Answer): void => {
        cancel();
        resolve(answer);
      };
      const fail = (cause: Break): void => end({ failure: brokenOff(cause, isSent) });
      request.on('error', fail).on('socket', (socket) => {
        isSent = request.reusedSocket;
        const connected = this.#agent instanceof HttpsAgent ? 'secureConnect' : 'connect';
        if (!isSent) socket.once(connected, () => (isSent = true));
      });
      request.on('response', (response) => {
        text(response).then((json) => end(answerOf(response.statusCode, json)), fail);
      });
      request.end(JSON.stringify(body));
    });
  }

  /** A connection that leads nowhere is seldom alone. */
  #closeIdle(): void {
    for (const idle of Object.values(this.#agent.freeSockets))
      for (const socket of idle ?? []) socket.destroy();
  }
}

function isSecure({ protocol }: URL): boolean {
  return protocol === 'https:';
}

function untilEvent(watch: ClientRequest, signal: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    let hasBegun = false;
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      watch.destroy();
      resolve();
    };
    const fail = (why: string, cause?: Error): void => {
      if (!hasBegun && !signal.aborted)
        reject(new LockStorageError(`etcd did not begin the watch of a lock: ${why}`, { cause }));
      end();
    };
    const cancel = clock.schedule(LONGEST_WATCH_MS, end, { keepAlive: false });
    signal.addEventListener('abort', end);
    watch.on('error', (error) => fail(error.message, error));
    watch.on('response', (response) => {
      const lines = createInterface({ input: response });
      const ended = (): void => fail('the stream ended');
      response.on('error', ended);
      lines.on('error', ended).on('close', ended);
      lines.on('line', (line) => {
        const answer = parsed(line)?.['result'] as
          { readonly created?: boolean; readonly canceled?: boolean } | undefined;
        if (answer?.created && !answer.canceled) hasBegun = true;
        else fail(line);
      });
    });
    if (signal.aborted) end();
  });
}
