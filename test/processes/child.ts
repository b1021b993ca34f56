import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** A message from a child, over the channel between the processes. */
export interface Message {
  readonly event: string;
}
/** Of the errors that a message shows. */
const LONGEST_ERRORS = 4000;
type MessageOf<M extends Message, E extends M['event']> = Extract<M, { event: E }>;

export interface ChildOptions {
  readonly argument?: object | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Its output is expected, and not shown. */
  readonly isQuiet?: boolean | undefined;
}

/**
 * Another process of a test. The test that starts it ends it, in `finally`; if the test's own process dies,
 * the child ends automatically.
 */
export class Child<M extends Message> {
  /** All its messages so far. */
  readonly messages: M[] = [];
  /** Its exit code and the signal that ended it, one of them `null`. */
  readonly ended: Promise<readonly [number | null, NodeJS.Signals | null]>;
  readonly #process: ChildProcess;
  #hasEnded = false;
  /** The end of what it printed as errors. */
  #errors = '';

  /** @param script a compiled file among the fixtures, which gets `argument` as JSON */
  constructor(script: string, { argument = {}, environment = {}, isQuiet = false }: ChildOptions) {
    this.#process = fork(join(__dirname, 'fixtures', script), [JSON.stringify(argument)], {
      env: { ...process.env, ...environment },
      silent: true,
    });
    if (!isQuiet) this.#process.stdout?.pipe(process.stdout, { end: false });
    this.#process.stdout?.resume();
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-LONGEST_ERRORS);
      if (!isQuiet) process.stderr.write(text);
    });
    this.#process.on('message', (message) => void this.messages.push(message as M));
    // Not 'exit': the last messages may arrive after it.
    this.ended = once(this.#process, 'close').then((ending) => {
      this.#hasEnded = true;
      return ending as [number | null, NodeJS.Signals | null];
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /**
   * The first such message, which may have arrived already. Rejects if the process ends without it, or takes
   * too long.
   */
  async received<E extends M['event']>(
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
        throw new Error(
          `The process ended (${(await this.ended).join(', ')}) without '${event}'.\n${this.#errors}`,
        );
      if (signal.aborted) throw new Error(`The process did not send '${event}' within ${withinMs} ms.`);
      await Promise.race([once(this.#process, 'message', { signal }).catch(onlyAborted), this.ended]);
    }
  }

  /** How it ended. Rejects if it did not end in time. */
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

  /** After success or failure: kills it if it still runs. */
  async end(): Promise<void> {
    this.kill('SIGKILL');
    await this.ended;
  }
}

function onlyAborted(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error;
}
