import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** What a child tells, over the channel between the processes. */
export interface Message {
  readonly event: string;
}
type MessageOf<M extends Message, E extends M['event']> = Extract<M, { event: E }>;

export interface ChildOptions {
  readonly argument?: object | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Its last words are expected, and nobody's to read. */
  readonly isQuiet?: boolean | undefined;
}

/** Another process of a test. Whoever starts it ends it, in `finally`; when the test's own process dies, it ends by itself. */
export class Child<M extends Message> {
  /** Everything that it has told so far. */
  readonly messages: M[] = [];
  /** Its exit code and the signal that ended it, one of them `null`. */
  readonly ended: Promise<readonly [number | null, NodeJS.Signals | null]>;
  readonly #process: ChildProcess;
  #hasEnded = false;

  /** @param script a compiled file among the fixtures, which is given `argument` as JSON */
  constructor(script: string, { argument = {}, environment = {}, isQuiet = false }: ChildOptions) {
    this.#process = fork(join(__dirname, 'fixtures', script), [JSON.stringify(argument)], {
      env: { ...process.env, ...environment },
      silent: isQuiet,
    });
    for (const output of [this.#process.stdout, this.#process.stderr]) output?.resume();
    this.#process.on('message', (message) => void this.messages.push(message as M));
    // Not 'exit': what it told last may arrive after that.
    this.ended = once(this.#process, 'close').then((ending) => {
      this.#hasEnded = true;
      return ending as [number | null, NodeJS.Signals | null];
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** The first such message, which may have come already. Rejects when the process ends without it, or takes too long. */
  async told<E extends M['event']>(
    event: E,
    {
      matching = () => true,
      withinMs = 60_000,
    }: { matching?: (message: MessageOf<M, E>) => boolean; withinMs?: number } = {},
  ): Promise<MessageOf<M, E>> {
    const isMeant = (message: M): message is MessageOf<M, E> =>
      message.event === event && matching(message as MessageOf<M, E>);
    const signal = AbortSignal.timeout(withinMs);
    for (;;) {
      const message = this.messages.find(isMeant);
      if (message !== undefined) return message;
      if (this.#hasEnded)
        throw new Error(`The process ended (${(await this.ended).join(', ')}) without '${event}'.`);
      if (signal.aborted) throw new Error(`The process did not tell '${event}' within ${withinMs} ms.`);
      await Promise.race([once(this.#process, 'message', { signal }).catch(onlyAborted), this.ended]);
    }
  }

  /** How it ended. Rejects when it did not in time. */
  async endedWithin(ms: number): Promise<Awaited<typeof this.ended>> {
    const ending = await Promise.race([this.ended, setTimeout(ms, undefined, { ref: false })]);
    if (ending !== undefined) return ending;
    throw new Error(`The process did not end within ${ms} ms.`);
  }

  send(message: object): void {
    this.#process.send(message);
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** For the end, good or bad: it runs no more. */
  async end(): Promise<void> {
    this.kill('SIGKILL');
    await this.ended;
  }
}

function onlyAborted(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error;
}
