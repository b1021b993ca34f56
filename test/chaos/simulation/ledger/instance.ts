import type { JobGuard } from 'cronlatch';
import { StorageBasedLockProvider, type LockProvider } from 'cronlatch/provider';
import { pause } from '#cronlatch/core/clock';
import type { Random } from '#cronlatch/contracts/random';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { overlay } from '../../../storage/contract-mutants/overlay';
import { keyTextOf, type Call, type HandlerRun } from '../../history/ledger/ledger-history';
import { SimulatedAccessor } from '../simulated-accessor';
import type { SimulatedHost } from '../simulated-host';
import { handle } from './handler';
import type { LedgerWorld } from './ledger-world';
import type { SimulatedJob } from './simulated-job';
import { SimulatedRunStore } from './simulated-run-store';
import { newGuard, type GuardOptions } from '../../../support/benches/guard-with-runs';

/** One process of the application: a guard, its jobs, and a scheduler that calls them. */
export class Instance {
  readonly #guard: JobGuard;
  #isClosing = false;

  constructor(
    private readonly world: LedgerWorld,
    readonly host: SimulatedHost,
    placeIsNamed: boolean,
  ) {
    const { random, database, breakage } = world;
    const { ledger } = world;
    const locks = database.table(host);
    if (ledger.locksAreNone) locks.isFree = () => true;
    const accessor = new SimulatedAccessor(world, host, locks, random.pick([true, false]));
    const options = { id: placeIsNamed ? 'simulated' : undefined, clock: host, random: fractionsOf(random) };
    const provider = new StorageBasedLockProvider(accessor, options);
    const store = new SimulatedRunStore(world, host);
    this.#guard = guardOf(random, {
      lockProvider: overlay<LockProvider>(provider, breakage.provider?.(provider) ?? {}),
      runStore: overlay(store, breakage.client?.(store) ?? {}),
      clock: host,
      logger: false,
      pollInterval: random.pick([1000, 3000]),
      statementTimeout: random.pick([300, 2000]),
    });
    this.#guard.onClose({ close: () => provider.close() });
    this.#listen();
    if (breakage.forgetsJobs) return;
    for (const job of world.jobs) this.#guard.wrap(job.configuration, () => this.#handle(job));
  }

  /** @returns when its process must end */
  async work(untilMs: number): Promise<void> {
    const { random, scheduler } = this.world;
    while (scheduler.nowMs < untilMs) {
      await pause(this.host, random.pick([0, 1, 300, 900, 2000]));
      const tick = (): Promise<void> => this.#tick(random.pick(this.world.jobs));
      switch (random.pick(['tick', 'tick', 'tick', 'ticks', 'runOverdue'] as const)) {
        case 'tick':
          await tick();
          break;
        case 'ticks':
          void Promise.all([tick(), tick()]);
          break;
        case 'runOverdue':
          await this.#guard.runOverdue().catch(() => {});
      }
      if (this.world.faults.oneIn(60, 'closing')) return await this.#close();
    }
  }

  get isRunning(): boolean {
    return !this.host.crashed && !this.#isClosing;
  }

  async #tick(job: SimulatedJob): Promise<void> {
    const { random, scheduler, history, ledger } = this.world;
    const scope = random.pick(job.scopes);
    const scheduledAt = random.pick([true, false])
      ? new Date(this.host.wallMs() - random.pick([0, 1, 500]))
      : undefined;
    const call: Call = {
      ...{ host: this.host.id, job: job.job, scope, scheduledAt, invokedAtMs: scheduler.nowMs },
      ...{ run: undefined, answer: undefined },
    };
    ledger.calls.push(call);
    const task = (): Promise<HandlerRun> => this.#handle(job);
    const own = (): Promise<HandlerRun> => {
      const running = task();
      // Not if the tick is retried later.
      if (call.answer === undefined) call.run = ledger.handlerRuns.at(-1);
      return running;
    };
    try {
      const integration = callsOf(this.#guard);
      const tick = { task: own, args: [scope], call: () => task, scheduledAt };
      const result = await integration.execute(integration.parts.registry.jobOf(job.configuration), tick);
      call.answer = { result, order: history.nextOrder() };
    } catch (error) {
      call.answer = { error, order: history.nextOrder() };
    }
  }

  #handle(job: SimulatedJob): Promise<HandlerRun> {
    return handle(this.world, this.host, async ({ scope }, inner) => {
      if (this.world.breakage.ignoresLeaseInside) return await inner();
      const call = (): (() => Promise<HandlerRun>) => () => this.#handle(job);
      const integration = callsOf(this.#guard);
      const tick = { task: inner, args: [scope], call };
      const inside = integration.execute(integration.parts.registry.jobOf(job.configuration), tick);
      return await inside.catch(() => {}); // Nothing ran, so its handler continues.
    });
  }

  async #close(): Promise<void> {
    const { random, history, ledger } = this.world;
    const timeout = random.pick([0, 500, 4000]);
    this.#isClosing = true;
    const begun = { host: this.host.id, order: history.nextOrder() };
    const { abandoned } = await this.#guard.close({ timeout, grace: random.pick([0, timeout / 2]) });
    if (abandoned.length === 0) ledger.closings.push({ host: this.host.id, order: history.nextOrder() });
    else ledger.abandonments.push(begun);
    // So that the check notices statements after the close.
    if (abandoned.length === 0) await pause(this.host, 3000);
    this.host.crashed = true;
  }

  #listen(): void {
    for (const event of ['run:completed', 'run:failed', 'run:skipped', 'run:givenBack'] as const) {
      this.#guard.on(event, (details) => {
        if (details.run === undefined) return;
        const { generation, attempt } = details.run;
        this.world.ledger.reported.push({
          ...{ host: this.host.id, event, key: keyTextOf(details.run), generation, attempt },
          reason: 'reason' in details ? details.reason : undefined,
          retryAt: 'retryAt' in details ? details.retryAt : undefined,
          order: this.world.history.nextOrder(),
        });
      });
    }
  }
}

function fractionsOf(random: Random): () => number {
  return () => random.integer(0, 999) / 1000;
}

/** A guard uses `Math.random` for its delays; here the seed decides them. */
function guardOf(random: Random, options: GuardOptions): JobGuard {
  const original = Math.random;
  Math.random = fractionsOf(random);
  try {
    return newGuard(options);
  } finally {
    Math.random = original;
  }
}
