/** upkeep/: what a guard does besides the calls of its jobs. Each chore is a service, and `Upkeep` runs them on time. */
import type { Clock, EventHub } from '../../core';
import { LastingFailure } from '../../core/lasting-failure';

/** The result of `runOverdue`. */
export interface OverdueResult {
  readonly started: number;
  /** The number of runs still overdue: another instance holds their lock, or the lease was too short for all of them. */
  readonly overdue: number;
}

export interface StartedRuns {
  /** Never rejects. */
  readonly ended: Promise<OverdueResult>;
  /** A read that failed. Other runs have been started. */
  readonly failure?: Error | undefined;
}

export interface Service {
  /** The warning if it fails. It is not repeated until the service has worked again. */
  readonly failure: string;
  /** Default: the poll interval of the guard. */
  readonly everyMs?: number;
  /** Default: as `everyMs`. */
  readonly firstAfterMs?: number | undefined;
  /** Resolves when the store has answered. The runs that it starts may take longer. */
  run(): Promise<StartedRuns | void>;
  /** Called before the guard waits for running jobs. A run should end soon then. */
  stop?(): void;
  /** Called after the last job has ended. Waits for what the service has begun, and sends what is left. */
  close?(): Promise<void>;
}

/** Runs the services of one guard. Its timers do not keep the process alive. */
export class Upkeep {
  readonly #cancelTimers = new Map<Service, () => void>();
  readonly #running = new Map<Service, Promise<void>>();
  readonly #failures: ReadonlyMap<Service, LastingFailure>;
  #hasStopped = false;

  /**
   * Services with an interval of their own begin at once.
   *
   * @param options.pollIntervalMs `undefined`: the others run only when `runNow` is called
   */
  constructor(
    private readonly services: readonly Service[],
    private readonly options: {
      readonly clock: Clock;
      readonly events: EventHub;
      readonly pollIntervalMs: number | undefined;
    },
  ) {
    this.#failures = new Map(services.map((service) => [service, new LastingFailure(options.events)]));
    this.start(services.filter(({ everyMs }) => everyMs !== undefined));
  }

  /** Starts the timers of these services, by default of all. */
  start(services = this.services): void {
    for (const service of services)
      if (!this.#cancelTimers.has(service)) this.#runAfter(service.firstAfterMs ?? service.everyMs, service);
  }

  #runAfter(delayMs = this.options.pollIntervalMs, service: Service): void {
    if (delayMs === undefined || this.#hasStopped) return;
    const run = (): void => {
      this.#runAfter(service.everyMs, service);
      // A slow store must not get more and more statements.
      if (this.#running.has(service)) return;
      const running = this.#failures.get(service)!.attempt(service.failure, async () => {
        const started = await service.run();
        if (started?.failure !== undefined) throw started.failure;
      });
      this.#running.set(service, running);
      void running.then(() => this.#running.delete(service));
    };
    this.#cancelTimers.set(service, this.options.clock.schedule(delayMs, run, { keepAlive: false }));
  }

  /**
   * Runs the services that have no time of their own, and waits for the runs that they start.
   *
   * @throws the error of a service that does not report its own failures
   */
  async runNow(): Promise<OverdueResult> {
    const polled = this.#hasStopped ? [] : this.services.filter(({ everyMs }) => everyMs === undefined);
    const started = await Promise.all(polled.map((service) => service.run()));
    const results = await Promise.all(started.flatMap((each) => each?.ended ?? []));
    for (const each of started) if (each?.failure !== undefined) throw each.failure;
    return sumOf(results);
  }

  async stop(): Promise<void> {
    this.#hasStopped = true;
    for (const cancelTimer of this.#cancelTimers.values()) cancelTimer();
    const stopped = this.services.filter((service) => service.stop !== undefined);
    for (const service of stopped) service.stop?.();
    await Promise.all(stopped.flatMap((service) => this.#running.get(service) ?? []));
  }

  /** One that hangs keeps no other one from closing. */
  async close(): Promise<void> {
    await Promise.all(this.services.map((service) => service.close?.() ?? Promise.resolve()));
  }
}

export function sumOf(results: readonly OverdueResult[]): OverdueResult {
  const sum = (key: keyof OverdueResult): number => results.reduce((total, result) => total + result[key], 0);
  return { started: sum('started'), overdue: sum('overdue') };
}
