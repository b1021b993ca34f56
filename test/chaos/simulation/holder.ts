import { LockStorageError, type Lock, type LockConfiguration } from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';
import { pause } from '#cronlatch/core/clock';
import type { Attempt } from '../history/history';
import type { SimulatedAccessor } from './simulated-accessor';
import type { SimulatedHost } from './simulated-host';
import type { World } from './statement-way';

export const NAMES = ['one', 'two'];

/** Long enough that faults rarely end a lease early, and short enough that its timeouts matter. */
const LEASES_MS = [300, 900, 3000];

/**
 * The actions of one host: it takes locks, works under them, extends and releases them, as the seed decides.
 */
export class Holder {
  constructor(
    private readonly world: World,
    readonly host: SimulatedHost,
    private readonly accessor: SimulatedAccessor,
    private readonly provider: LockProvider,
  ) {}

  async work(untilMs: number): Promise<void> {
    const { random, scheduler } = this.world;
    while (scheduler.nowMs < untilMs) {
      await this.#pass(random.pick([0, 1, 10, 300, 900, 2000]));
      await this.#run(this.#configuration());
    }
  }

  /** Takes every lock once, and releases it at once. */
  async probe(): Promise<void> {
    for (const name of NAMES) {
      const { attempt, lock } = await this.#attempt({ name, lockAtMostFor: 900 });
      if (lock !== undefined) await this.#release(attempt, lock);
    }
  }

  #configuration(): LockConfiguration {
    const { random } = this.world;
    const lockAtMostFor = random.pick(LEASES_MS);
    return {
      name: random.pick(NAMES),
      lockAtMostFor,
      lockAtLeastFor: random.pick([0, 0, 0, lockAtMostFor / 3, lockAtMostFor]),
      ...random.pick([{}, {}, { keepAlive: true }, { keepAlive: true, maxLockDuration: 2 * lockAtMostFor }]),
    };
  }

  async #run(configuration: LockConfiguration): Promise<void> {
    const { random } = this.world;
    const { attempt, lock } = await this.#attempt(configuration);
    if (lock === undefined) return;
    const { signal } = lock;
    for (let left = random.integer(0, 8); left > 0; left -= 1) {
      await this.#pass(random.pick([0, 1, 50, 150, 300, 900]));
      const how = random.pick(['glance', 'look'] as const);
      if ((how === 'look' ? lock.signal : signal).aborted) break;
      this.#worked(attempt, how);
      if (random.integer(1, 5) === 1) await storageMayFail(lock.extend(random.pick(LEASES_MS)));
    }
    // Some holders forget the release, which a keep-alive would take for unfinished work.
    if (configuration.keepAlive === true || random.integer(1, 10) > 1) await this.#release(attempt, lock);
  }

  async #attempt(configuration: LockConfiguration): Promise<{ attempt: Attempt; lock: Lock | undefined }> {
    const { history, scheduler } = this.world;
    const attempt: Attempt = {
      host: this.host.id,
      name: configuration.name,
      invokedAtMs: scheduler.nowMs,
      completedAtMs: undefined,
      result: undefined,
      owner: undefined,
      releasedAtMs: undefined,
      releasedInTime: undefined,
    };
    history.attempts.push(attempt);
    this.accessor.lastOwners.delete(configuration.name);
    const answer = await storageMayFail(this.provider.lock(configuration));
    attempt.owner = this.accessor.lastOwners.get(configuration.name);
    attempt.completedAtMs = scheduler.nowMs;
    attempt.result = answer === 'failed' ? 'error' : answer === undefined ? 'held' : 'granted';
    return { attempt, lock: answer === 'failed' ? undefined : answer };
  }

  async #release(attempt: Attempt, lock: Lock): Promise<void> {
    const wasTrusted = !lock.signal.aborted;
    const answer = await storageMayFail(lock.unlock());
    if (answer === 'failed') return;
    attempt.releasedAtMs = this.world.scheduler.nowMs;
    // If the host has already given its lease up as lost, the store may still consider it live.
    attempt.releasedInTime = wasTrusted ? answer : undefined;
  }

  #worked(attempt: Attempt, how: 'glance' | 'look'): void {
    const { history, scheduler } = this.world;
    history.works.push({ attempt, atMs: scheduler.nowMs, order: history.nextOrder(), how });
  }

  #pass(ms: number): Promise<void> {
    return pause(this.host, ms);
  }
}

/** Every other error is a bug of the library. */
async function storageMayFail<T>(promise: Promise<T>): Promise<T | 'failed'> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof LockStorageError) return 'failed';
    throw error;
  }
}
