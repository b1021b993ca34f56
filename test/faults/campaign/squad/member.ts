import { Child } from '../../../processes/child';
import type { FakedClock } from '../../../support/clocks/faked';
import type { Place } from '../place';
import type { WorkerMessage, WorkerOrders, WorkerCommand } from '../worker/orders';
import type { CampaignProxy } from './campaign-proxy';

/** One position in the squad: a sequence of worker processes, each connected through the same proxies. */
export class Member {
  #child: Child<WorkerMessage>;
  /** A fault is in progress that must end before the next starts. */
  isBusy = false;
  #stalls = 0;
  #worker = NaN;

  /** Rejects if a worker ends unexpectedly. */
  readonly casualty: Promise<never>;
  #report: (casualty: Error) => void = () => {};
  /** It may end now: it was killed, or was asked to finish. */
  #mayEnd = false;

  private constructor(
    /** One for each server, none for a file. */
    readonly proxies: readonly CampaignProxy[],
    /** The clock of its workers, if it can be set. */
    readonly clock: FakedClock | undefined,
    private readonly orders: () => WorkerOrders,
  ) {
    this.casualty = new Promise((_, reject) => (this.#report = reject));
    this.casualty.catch(() => {}); // Those that wait for it get the error.
    this.#child = this.#started();
  }

  static async in(
    place: Place,
    orders: () => Omit<WorkerOrders, 'options' | 'locks'>,
    clock?: FakedClock,
  ): Promise<Member> {
    const proxies = await place.proxies();
    const ports = proxies.map(({ port }) => port);
    return new Member(proxies, clock, () => ({ ...orders(), ...place.ordersBy(ports) }));
  }

  /** The number of the current worker. */
  get worker(): number {
    return this.#worker;
  }

  get messages(): WorkerMessage[] {
    return this.#child.messages;
  }

  async ready(): Promise<void> {
    await this.#child.received('ready');
  }

  async kill(): Promise<void> {
    this.#mayEnd = true;
    await this.#child.end();
  }

  /** Starts another worker after one has ended. */
  async restart(): Promise<void> {
    this.#child = this.#started();
    await this.ready();
  }

  #started(): Child<WorkerMessage> {
    const argument = this.orders();
    const { worker } = argument;
    const environment = this.clock?.environment;
    const child = new Child<WorkerMessage>('../../faults/campaign/worker/worker.js', {
      argument,
      environment,
    });
    this.#worker = worker;
    this.#mayEnd = false;
    void child.ended.then(([code, signal]) => {
      if (!this.#mayEnd) this.#report(new Error(`Worker ${worker} ended unexpectedly: ${code ?? signal}.`));
    });
    return child;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  /** Resolves when its event loop runs again. */
  async stall(ms: number): Promise<void> {
    const id = (this.#stalls += 1);
    this.send({ word: 'stall', ms, id });
    await this.#child.received('stalled', { matching: (message) => message.id === id });
  }

  send(word: WorkerCommand): void {
    this.#child.send(word);
  }

  async done(withinMs: number): Promise<void> {
    this.#mayEnd = true;
    await this.#child.received('done', { withinMs });
    await this.#child.endedWithin(30_000);
  }

  async end(): Promise<void> {
    await this.kill();
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
    this.clock?.dispose();
  }
}
