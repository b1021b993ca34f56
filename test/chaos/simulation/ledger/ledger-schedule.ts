import { InMemoryRuns } from '#cronlatch/storage/memory/in-memory-runs';
import { Random } from '#cronlatch/contracts/random';
import { MISSED_WITHIN_MS } from '../../history/check-liveness';
import { checkOverdue } from '../../history/ledger/check-overdue';
import { keyTextOf, LedgerHistory } from '../../history/ledger/ledger-history';
import { History } from '../../history/history';
import { Faults, LATEST_MS, type FaultKind } from '../faults';
import { Scheduler } from '../scheduler';
import { SimulatedDatabase } from '../simulated-database';
import { SimulatedHost } from '../simulated-host';
import { strike } from '../strike';
import { Instance } from './instance';
import { EPOCH_MS, type LedgerBreakage, type LedgerWorld } from './ledger-world';
import { planPurge } from './purge';
import { jobsBy } from './simulated-job';

export interface SimulatedLedger {
  readonly history: History;
  readonly ledger: LedgerHistory;
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly steps: number;
}

const LASTS_MS = 15_000;
/** All processes are down for this long, so that hours are missed. */
const NIGHT_MS = 3 * 3_600_000;
/**
 * The time after the last fault within which overdue runs are done: the last late statement and the last
 * pause, the longest handler, the longest lease (`maxLockDuration`), the longest delay of a retry, the longest time
 * by which the database's clock was set back, and two polls of the slowest clock. A lost lock record is
 * detected later.
 */
const ANSWERED_WITHIN_MS = LATEST_MS + 5000 + 10_000 + 6000 + 4000 + 9000 + 12_000;
const POLL_EVERY_MS = 2000;

/**
 * Simulates two jobs between some hosts and their database, by seed, and records all that happens to their
 * runs.
 */
export async function simulateLedger(seed: number, breakage: LedgerBreakage = {}): Promise<SimulatedLedger> {
  const random = new Random(seed);
  const scheduler = new Scheduler(random);
  const faults = new Faults(random);
  const history = new History();
  const ledger = new LedgerHistory();
  const database = new SimulatedDatabase(scheduler, history, () => ({}));
  const { clock } = database;
  const runs = new InMemoryRuns({ clock: { ...clock, wallMs: () => EPOCH_MS + clock.monotonicMs() } });
  const jobs = jobsBy(random);
  for (const job of jobs) ledger.jobs.set(job.job, job);
  ledger.locksAreNone = faults.oneIn(10, 'lock that is none');
  const world = { random, scheduler, faults, history, database, runs, ledger, jobs, breakage };
  const endsAtMs = scheduler.nowMs + LASTS_MS;
  const processes = new Processes(world, endsAtMs);
  for (const damage of faults.ledgerDamages()) plan(world, damage);
  planPurge(world, seed, LASTS_MS);
  for (let left = random.integer(2, 3); left > 0; left -= 1) processes.start();
  await scheduler.runUntil(endsAtMs);
  const isNight = faults.oneIn(4, 'night');
  faults.end();
  if (isNight) {
    processes.end();
    await scheduler.runUntil(endsAtMs + NIGHT_MS);
  }
  const quietFromMs = scheduler.nowMs;
  ledger.survivors = processes.survivors();
  ledger.wallClocksAreRight = processes.wallClocksAreRight && !faults.counts.has('wall clock jump');
  await scheduler.runUntil(quietFromMs + LATEST_MS);
  const missedMs = history.damages.length > 0 ? MISSED_WITHIN_MS : 0;
  const answeredBy = quietFromMs + ANSWERED_WITHIN_MS + missedMs;
  ledger.endsAt = new Date(EPOCH_MS + answeredBy + POLL_EVERY_MS);
  while (scheduler.nowMs < answeredBy && checkOverdue(history, ledger).length > 0)
    await scheduler.runUntil(scheduler.nowMs + POLL_EVERY_MS);
  if (processes.failure !== undefined)
    throw new Error(`A process failed by seed ${seed}.`, { cause: processes.failure });
  return { history, ledger, faults: faults.counts, steps: scheduler.steps };
}

/** The processes of an application, each of which is restarted after its end. */
class Processes {
  failure: unknown;
  wallClocksAreRight = true;
  readonly #instances: Instance[] = [];
  readonly #placeIsNamed: boolean;

  constructor(
    private readonly world: LedgerWorld,
    private readonly endsAtMs: number,
  ) {
    this.#placeIsNamed = world.random.integer(1, 4) > 1;
  }

  start(): void {
    const { random, scheduler, history } = this.world;
    const id = this.#instances.length;
    const rate = random.pick([1, 1, 1, 1, 0.5, 0.99, 1.01, 2]);
    history.rates[id] = rate;
    const host = new SimulatedHost(id, scheduler, rate, (going) => this.#strike(going));
    const skewMs = random.pick([0, 0, 0, -400, 400, -3_600_000]);
    host.wallAheadMs = EPOCH_MS + skewMs;
    if (Math.abs(skewMs) > 1000 || Math.abs(rate - 1) > 0.01) this.wallClocksAreRight = false;
    const instance = new Instance(this.world, host, this.#placeIsNamed);
    this.#instances.push(instance);
    instance
      .work(this.endsAtMs)
      .then(() => instance.isRunning || this.#startLater())
      .catch((error: unknown) => (this.failure ??= error));
  }

  /** Ends all at once. */
  end(): void {
    for (const { host } of this.#instances) host.crashed = true;
  }

  /** The remaining hosts, of which there is at least one. */
  survivors(): number[] {
    if (!this.#instances.some(({ isRunning }) => isRunning)) this.start();
    return this.#instances.filter(({ isRunning }) => isRunning).map(({ host }) => host.id);
  }

  #strike(host: SimulatedHost): void {
    strike(this.world, host);
    if (host.crashed) this.#startLater();
  }

  #startLater(): void {
    const { random, scheduler } = this.world;
    scheduler.after(random.pick([1, 1000, 5000]), () => {
      if (scheduler.nowMs < this.endsAtMs) this.start();
    });
  }
}

type Damage = ReturnType<Faults['ledgerDamages']>[number];

function plan(world: LedgerWorld, damage: Damage): void {
  const { random, scheduler, database } = world;
  scheduler.after(random.integer(1, LASTS_MS - 1), () => {
    switch (damage) {
      case 'row deleted':
        return database.delete(random.pick(world.jobs).lockName);
      case 'roll-back':
        return void scheduler.after(random.integer(1, 3000), database.snapshot());
      case 'run deleted':
        return deleteRun(world);
      case 'database clock set':
        return setClock(world);
    }
  });
}

function deleteRun({ random, runs, history, ledger, scheduler }: LedgerWorld): void {
  const rows = runs.rows();
  if (rows.length === 0) return;
  const { run } = random.pick(rows);
  runs.delete(run);
  const { job } = run;
  const change = { key: keyTextOf(run), job, by: undefined, before: run, after: undefined };
  ledger.changes.push({ ...change, atMs: scheduler.nowMs, order: history.nextOrder() });
}

/** Sets it forever, or by an hour and soon back. */
function setClock({ random, database, ledger, scheduler }: LedgerWorld): void {
  const byMs = random.pick([-3000, -500, 500, 3000, -3_600_000, 3_600_000]);
  const set = (ms: number): void => {
    database.clockAheadMs += ms;
    ledger.clockSets.push({ atMs: scheduler.nowMs, byMs: ms });
  };
  set(byMs);
  if (Math.abs(byMs) > 3000) scheduler.after(random.integer(1, 1000), () => set(-byMs));
}
