import { join } from 'node:path';
import type { Random } from '#cronlatch/contracts/random';
import { CAN_FAKE_CLOCKS, FakedClock } from '../../../support/clocks/faked';
import { linesOf } from '../lines';
import type { CampaignServer, Keeper } from '../options';
import { isLockServer } from '../options';
import type { Place } from '../place';
import type { DatedEntry } from '../worker/journal';
import { Member } from './member';

const WORKERS = 8;

/** This many have a wall clock that can be set, which makes them slow. */
const WITH_CLOCKS = 2;

/** Not with a ledger in SQLite, where each process's clock is the database's. */
export function canSetClocks(server: CampaignServer): boolean {
  return CAN_FAKE_CLOCKS && server !== 'sqlite' && !isLockServer(server);
}

/** The workers that the faults hit. */
export class Squad {
  readonly members: Member[] = [];
  readonly #journals: string[] = [];

  constructor(
    private readonly place: Place,
    private readonly folder: string,
    private readonly witness: string,
    private readonly startMs: number,
    private readonly random: Random,
    private readonly keeper: Keeper,
  ) {}

  async muster(): Promise<void> {
    const hasClock = (number: number): boolean => canSetClocks(this.place.name) && number < WITH_CLOCKS;
    for (let number = 0; number < WORKERS; number += 1) {
      const clock = hasClock(number) ? new FakedClock() : undefined;
      this.members.push(await Member.in(this.place, () => this.#orders(), clock));
    }
    await Promise.all(this.members.map((member) => member.ready()));
  }

  /** Rejects if one ends unexpectedly. */
  get casualty(): Promise<never> {
    return Promise.race(this.members.map((member) => member.casualty));
  }

  /** The number of swallowed replies by kind of statement, whose statements took effect. */
  get swallowed(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { swallowed } of this.members.flatMap(({ proxies }) => proxies))
      for (const [kind, count] of swallowed) counts[kind] = (counts[kind] ?? 0) + count;
    return counts;
  }

  /** Calls `strike` with a member without a fault, if there is one, and reserves it meanwhile. */
  async withOne(strike: (member: Member) => Promise<void>): Promise<void> {
    const free = this.members.filter(({ isBusy }) => !isBusy);
    if (free.length === 0) return;
    const member = this.random.pick(free);
    member.isBusy = true;
    try {
      await strike(member);
    } finally {
      member.isBusy = false;
    }
  }

  /** Lets them complete the remaining runs, and end. */
  async finish(keys: readonly string[], withinMs: number): Promise<void> {
    for (const member of this.members) member.send({ word: 'finish', keys });
    await Promise.all(this.members.map((member) => member.done(withinMs)));
  }

  /** All their records, in the order of the machine's time. */
  async journal(): Promise<DatedEntry[]> {
    const all = await Promise.all(this.#journals.map((file) => linesOf<DatedEntry>(file)));
    return all.flat().sort((a, b) => a.atMs - b.atMs);
  }

  async end(): Promise<void> {
    await Promise.all(this.members.map((member) => member.end()));
  }

  #orders() {
    const worker = this.#journals.length;
    const journal = join(this.folder, `worker-${worker}.jsonl`);
    this.#journals.push(journal);
    const seed = this.random.integer(0, 2 ** 31);
    return { worker, keeper: this.keeper, witness: this.witness, journal, seed, startMs: this.startMs };
  }
}
