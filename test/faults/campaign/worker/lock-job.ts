import { setTimeout } from 'node:timers/promises';
import type { JobGuard, Lock } from 'cronlatch';
import type { Random } from '#cronlatch/contracts/random';
import { machineMs } from '../../../processes/machine-time';
import type { WitnessClient } from '../witness/witness-client';
import type { Heartbeat } from './heartbeat';
import type { Journal } from './journal';
import { LEASES_MS, LOCK_NAMES } from './orders';

/** What a handler does with its lease, with its percentage. */
const BEHAVIOURS = weighted({
  brief: 86,
  throws: 4,
  extends: 6,
  /** Works up to the end of the lease, and stops in time. */
  long: 2,
  /** Stops working, keeps the lock, and waits for the signal that it is lost. */
  lapses: 1,
  'ignores its signal': 1,
});

type Behaviour = (typeof BEHAVIOURS)[number];

/** Mostly none. The whole lease is rare, because such a lock stays taken for all that time. */
const AT_LEAST_SHARES = weighted({ '0': 65, '0.05': 20, '0.15': 13, '1': 2 }).map(Number);

function weighted<K extends string>(weights: Readonly<Record<K, number>>): K[] {
  return Object.entries<number>(weights).flatMap(([item, weight]) =>
    Array.from({ length: weight }, () => item as K),
  );
}

/** A handler that checks its lease before each piece of work stops in time, unless its process is blocked. */
const MARGIN_MS = 250;
const PIECE_MS = 20;

export class JobFailedError extends Error {
  override readonly name = 'JobFailedError';
}

/** Takes locks and works under them, as a worker's seed decides. */
export class LockJob {
  constructor(
    private readonly guard: JobGuard,
    private readonly witness: WitnessClient,
    private readonly journal: Journal,
    private readonly heartbeat: Heartbeat,
    private readonly random: Random,
  ) {}

  async attempt(): Promise<void> {
    const { random } = this;
    const lockAtMostFor = random.pick(LEASES_MS);
    const behaviour = random.pick(BEHAVIOURS);
    const configuration = {
      name: random.pick(LOCK_NAMES),
      lockAtMostFor,
      lockAtLeastFor: lockAtMostFor * random.pick(AT_LEAST_SHARES),
      keepAlive: behaviour !== 'lapses' && random.integer(1, 3) === 1,
    };
    await this.guard.run(configuration, (lock) => this.#work(lock, behaviour, lockAtMostFor));
  }

  async #work(lock: Lock, behaviour: Behaviour, leaseMs: number): Promise<void> {
    const { name, fencingToken: token = NaN } = lock;
    const ignoresItsSignal = behaviour === 'ignores its signal';
    await this.witness.report({ event: 'enter', name, token, ignoresItsSignal });
    try {
      const endsAtMs = machineMs() + this.#lengthMs(behaviour, leaseMs);
      const isTrusted = (): boolean => ignoresItsSignal || lock.remainingMs() > MARGIN_MS;
      while (machineMs() < endsAtMs && isTrusted()) await setTimeout(PIECE_MS);
      // Never shorter than before: whether it takes effect or not, the lease does not end earlier.
      if (behaviour === 'extends' && isTrusted()) await lock.extend(Math.max(...LEASES_MS));
      // Some write after they have lost the lock: the register must refuse that.
      await this.witness.report({ event: 'write', name, token });
    } finally {
      await this.witness.report({ event: 'leave', name, token });
    }
    if (behaviour === 'lapses') await this.#waitForLoss(lock, token);
    if (behaviour === 'throws') throw new JobFailedError('The job failed, as planned.');
  }

  #lengthMs(behaviour: Behaviour, leaseMs: number): number {
    if (behaviour === 'long') return leaseMs;
    return behaviour === 'ignores its signal' ? 1.5 * leaseMs : this.random.integer(1, 150);
  }

  /** Measures how soon the loss of a lease is noticed. */
  async #waitForLoss(lock: Lock, token: number): Promise<void> {
    const { signal, name } = lock;
    const fromMs = machineMs();
    const endsAtMs = fromMs + lock.remainingMs();
    if (signal.aborted) return;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    const stalledMs = this.heartbeat.longestGapSince(fromMs);
    this.journal.write({ k: 'lost', name, token, lateMs: machineMs() - endsAtMs, stalledMs });
  }
}
