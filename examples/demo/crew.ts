import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { READY } from './reporter';
import { WORKERS, type WorkerEnvironment } from './settings';
import { parseLine, type WitnessLine } from './witness';

const LONGEST_STOP_MS = 10_000;

export interface CrewOptions {
  readonly environment: Omit<WorkerEnvironment, 'DEMO_WORKER'>;
  /** Called if a worker ends unexpectedly. */
  readonly onDeath: (error: Error) => void;
}

/** The four worker processes. None outlives this one, however it ends: see worker.ts. */
export class Crew {
  readonly #workers = new Map<string, ChildProcess>();
  readonly #endings = new Map<string, Promise<unknown>>();
  readonly #dismissed = new Set<string>();
  readonly #output: string[] = [];
  readonly #options: CrewOptions;
  readonly #unsentLines: WitnessLine[] = [];
  #onLine = (line: WitnessLine): void => void this.#unsentLines.push(line);

  constructor(options: CrewOptions) {
    this.#options = options;
    for (const name of WORKERS) this.#start(name);
  }

  /** The workers' output, which would otherwise disturb the table. */
  get output(): string {
    return this.#output.join('');
  }

  /** Resolves when every worker has scheduled its job. */
  async ready(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => once(worker, 'message', { signal })));
  }

  /** Passes all messages of the workers, including earlier ones. */
  listen(onLine: (line: WitnessLine) => void): void {
    this.#onLine = onLine;
    for (const line of this.#unsentLines) onLine(line);
  }

  /** @returns its process id, after it has ended */
  async kill(name: string): Promise<number | undefined> {
    const worker = this.#workers.get(name);
    this.#dismiss(name, 'SIGKILL');
    await this.#endings.get(name);
    return worker?.pid;
  }

  /** Lets every worker finish its run and close its guard. */
  async stop(): Promise<void> {
    for (const name of this.#workers.keys()) this.#dismiss(name, 'SIGTERM');
    const waiting = new AbortController();
    const tooLate = setTimeout(LONGEST_STOP_MS, undefined, { signal: waiting.signal }).then(() => {
      throw new Error(
        `Workers did not stop within ${LONGEST_STOP_MS} ms of SIGTERM: ${[...this.#workers.keys()].join(', ')}.`,
      );
    });
    await Promise.race([Promise.all(this.#endings.values()), tooLate]).finally(() => waiting.abort());
  }

  /** After success or failure: kills the workers that still run. */
  async end(): Promise<void> {
    for (const name of this.#workers.keys()) this.#dismiss(name, 'SIGKILL');
    await Promise.all(this.#endings.values());
  }

  #dismiss(name: string, signal: NodeJS.Signals): void {
    this.#dismissed.add(name);
    this.#workers.get(name)?.kill(signal);
  }

  #start(name: string): void {
    const worker = fork(join(__dirname, 'worker.js'), {
      env: { ...process.env, ...this.#options.environment, DEMO_WORKER: name },
      silent: true,
      // A process group of its own: Ctrl-C reaches only the parent, which then stops the workers in order.
      detached: true,
    });
    this.#workers.set(name, worker);
    this.#endings.set(name, new Promise((resolve) => worker.once('close', resolve)));
    for (const stream of [worker.stdout, worker.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.#output.push(text));
    }
    worker.on('message', (message: unknown) => {
      if (typeof message === 'string' && message !== READY) this.#onLine(parseLine(message));
    });
    worker.on('error', (error) => this.#options.onDeath(error));
    worker.on('exit', (code, signal) => {
      this.#workers.delete(name);
      if (this.#dismissed.has(name)) return;
      this.#options.onDeath(new Error(`Worker ${name} died (${signal ?? `exit code ${code}`}).`));
    });
  }
}
