import type { Random } from '#cronlatch/contracts/random';

export const FATES = [
  'connection refused',
  'contention',
  'lost on its way',
  'reply lost',
  'arrives late',
  'waits at the server',
] as const;

/** What happens to a statement. */
export type Fate = 'arrives' | (typeof FATES)[number];

export const INCIDENTS = [
  'crash',
  'pause',
  'suspension',
  'wall clock jump',
  'row deleted',
  'roll-back',
] as const;

/** Further incidents in simulations with a ledger. */
export const LEDGER_INCIDENTS = [
  'run deleted',
  'database clock set',
  'closing',
  'lock that is none',
  'night',
  'purge',
] as const;

export type FaultKind =
  (typeof FATES)[number] | (typeof INCIDENTS)[number] | (typeof LEDGER_INCIDENTS)[number];

/** Every statement takes effect at most this long after it was sent. */
export const LATEST_MS = 9000;

/** Faults by seed, at rates that the seed decides too: some schedules are calm, some are not. */
export class Faults {
  readonly counts = new Map<FaultKind, number>();
  readonly #perThousandStatements: number;
  readonly #perThousandSteps: number;
  readonly #perSchedule: number;
  #haveEnded = false;

  constructor(private readonly random: Random) {
    this.#perThousandStatements = random.pick([0, 20, 100, 300]);
    this.#perThousandSteps = random.pick([0, 3, 15]);
    this.#perSchedule = random.pick([0, 0, 1, 3]);
  }

  /** No faults happen after this call. */
  end(): void {
    this.#haveEnded = true;
  }

  fate(): Fate {
    if (!this.#strikes(this.#perThousandStatements)) return 'arrives';
    return this.#counted(this.random.pick(FATES));
  }

  /** The fault of a host that is about to continue. */
  atStep(): 'crash' | 'pause' | 'suspension' | 'wall clock jump' | undefined {
    if (!this.#strikes(this.#perThousandSteps)) return undefined;
    return this.#counted(this.random.pick(['crash', 'pause', 'pause', 'suspension', 'wall clock jump']));
  }

  /** Faults of the lock records, one after the other. */
  damages(): ('row deleted' | 'roll-back')[] {
    return this.#incidents(['row deleted', 'row deleted', 'roll-back'] as const);
  }

  /** Faults of the records of locks and runs, and of the database's clock. */
  ledgerDamages(): ('row deleted' | 'roll-back' | 'run deleted' | 'database clock set')[] {
    return this.#incidents([
      'row deleted',
      'row deleted',
      'roll-back',
      'run deleted',
      'database clock set',
    ] as const);
  }

  /** Whether it happens in this schedule; counts it if so. */
  oneIn<K extends FaultKind>(schedules: number, kind: K): boolean {
    const strikes = !this.#haveEnded && this.random.integer(1, schedules) === 1;
    if (strikes) this.#counted(kind);
    return strikes;
  }

  get haveEnded(): boolean {
    return this.#haveEnded;
  }

  /** Mostly zero or short. */
  wayMs(): number {
    return this.random.pick([0, 0, 0, 1, 1, 2, 20]);
  }

  #strikes(perThousand: number): boolean {
    return !this.#haveEnded && this.random.integer(1, 1000) <= perThousand;
  }

  #incidents<K extends FaultKind>(kinds: readonly K[]): K[] {
    return Array.from({ length: this.random.integer(0, this.#perSchedule) }, () =>
      this.#counted(this.random.pick(kinds)),
    );
  }

  #counted<K extends FaultKind>(kind: K): K {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    return kind;
  }
}
