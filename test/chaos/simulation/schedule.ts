import { StorageBasedLockProvider, type Clock, type LockProvider } from 'cronlatch/provider';
import { Random } from '#cronlatch/contracts/random';
import type { BreakableStore } from '../../storage/contract-mutants/breakable-store';
import { overlay } from '../../storage/contract-mutants/overlay';
import { History } from '../history/history';
import { Faults, LATEST_MS, type FaultKind } from './faults';
import { Holder, NAMES } from './holder';
import { Scheduler } from './scheduler';
import { SimulatedAccessor } from './simulated-accessor';
import { SimulatedDatabase } from './simulated-database';
import { SimulatedHost } from './simulated-host';
import type { World } from './statement-way';
import { strike } from './strike';

/** The bugs that a test can plant. */
export interface Breakage {
  readonly store?: (store: BreakableStore, localClock: Clock) => Partial<BreakableStore>;
  readonly provider?: (provider: LockProvider, clock: Clock) => Partial<LockProvider>;
  readonly clock?: (clock: Clock) => Partial<Clock>;
}

export interface Simulated {
  readonly history: History;
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly steps: number;
}

const LASTS_MS = 12_000;
/**
 * Longer than any lease, any late statement, and the minute after which a slow clock detects a deleted
 * record.
 */
const QUIET_MS = 150_000;
const PROBE_EVERY_MS = 10_000;

/** Simulates some hosts and their database, by seed. The same seed gives the same history. */
export async function simulate(seed: number, breakage: Breakage = {}): Promise<Simulated> {
  const random = new Random(seed);
  const scheduler = new Scheduler(random);
  const faults = new Faults(random);
  const history = new History();
  const database = new SimulatedDatabase(scheduler, history, breakage.store ?? (() => ({})));
  const world = { random, scheduler, faults, history, database };
  const endsAtMs = scheduler.nowMs + LASTS_MS;
  const holders = Array.from({ length: random.integer(2, 4) }, (_, id) => holderOf(world, id, breakage));
  let failure: unknown;
  const start = (work: () => Promise<void>): void => {
    work().catch((error: unknown) => (failure ??= error));
  };
  for (const damage of faults.damages()) plan(world, damage);
  for (const holder of holders) start(() => holder.work(endsAtMs));
  await scheduler.runUntil(endsAtMs);
  faults.end();
  await scheduler.runUntil(endsAtMs + LATEST_MS + QUIET_MS);
  for (const holder of holders) {
    start(() => holder.probe());
    await scheduler.runUntil(scheduler.nowMs + PROBE_EVERY_MS);
  }
  if (failure !== undefined) throw new Error(`A holder failed by seed ${seed}.`, { cause: failure });
  return { history, faults: faults.counts, steps: scheduler.steps };
}

function holderOf(world: World, id: number, breakage: Breakage): Holder {
  const { provider: breaks = () => ({}), clock = () => ({}) } = breakage;
  const { random, scheduler, history, database } = world;
  const rate = random.pick([1, 1, 1, 0.5, 0.99, 1.01, 2]);
  history.rates[id] = rate;
  const host = new SimulatedHost(id, scheduler, rate, (going) => strike(world, going));
  const accessor = new SimulatedAccessor(world, host, database.table(host), random.pick([true, false]));
  const right = new StorageBasedLockProvider(accessor, {
    clock: overlay<Clock>(host, clock(host)),
    random: () => random.integer(0, 999) / 1000,
  });
  return new Holder(world, host, accessor, overlay<LockProvider>(right, breaks(right, host)));
}

function plan({ random, scheduler, database }: World, damage: 'row deleted' | 'roll-back'): void {
  const atMs = random.integer(1, LASTS_MS);
  if (damage === 'row deleted') return void scheduler.after(atMs, () => database.delete(random.pick(NAMES)));
  const lostMs = random.integer(1, 3000);
  scheduler.after(atMs, () => {
    const rollBack = database.snapshot();
    scheduler.after(lostMs, rollBack);
  });
}
