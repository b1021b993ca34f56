import type { Board } from './board';
import { killInsideDay } from './kill-inside-day';
import { killInsideRun, type Kill, type Scene } from './kill-inside-run';
import { KILL_AT_TICK, KILL_DAY_AT_TICK, TICK_MS } from './settings';
import type { LineOf, TickEvent } from './witness';

/** Kills one worker inside a run of its tick, and another inside the job of the day. */
export class Kills {
  #inRun: Promise<Kill | undefined> | undefined;
  #inDay: Promise<void> | undefined;

  constructor(
    private readonly scene: Scene,
    private readonly board: Board,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** A worker has just entered the run of its tick. */
  onEnter(enter: LineOf<TickEvent>): void {
    const tick = (enter.scheduledAt - this.board.first) / TICK_MS + 1;
    const victim = this.board.day?.victim;
    // A worker inside both is not killed, so that each figure has one death to explain.
    if (enter.worker === victim) return;
    if (tick >= KILL_AT_TICK) this.#inRun ??= this.#watched(this.#killInRun(enter));
    // Another worker has the lock of this tick, so the victim leaves only the day's lock behind.
    if (tick >= KILL_DAY_AT_TICK && victim !== undefined)
      this.#inDay ??= this.#watched(this.#killInDay(victim, enter));
  }

  /** After all kills: when the lease of the killed run ends, by the database's clock. */
  async leaseUntil(): Promise<number | undefined> {
    await this.#inDay;
    return (await this.#inRun)?.leaseUntil;
  }

  async #killInRun(enter: LineOf<TickEvent>): Promise<Kill | undefined> {
    const done = await killInsideRun(enter, this.scene);
    if (done !== undefined) this.board.bury(done.line, done.leaseUntil);
    else this.#inRun = undefined; // Too late: wait for the next run.
    return done;
  }

  async #killInDay(victim: string, enter: LineOf<TickEvent>): Promise<void> {
    const killed = await killInsideDay(victim, this.scene);
    this.board.day?.apply(killed);
    this.board.bury({ ...enter, event: 'killed', worker: victim });
  }

  #watched<T>(killing: Promise<T>): Promise<T> {
    killing.catch(this.onError);
    return killing;
  }
}
