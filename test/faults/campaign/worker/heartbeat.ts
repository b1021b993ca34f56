import { machineMs } from '../../processes/competition/settings';
import type { Journal } from './journal';

const BEAT_MS = 20;
/** A gap that is told. */
const LONG_MS = 60;

/** Notices when the event loop does not turn: a stop, a stall, or a machine that has other things to do. */
export class Heartbeat {
  #lastMs = machineMs();
  /** The latest gaps, each with its end. */
  #gaps: { readonly untilMs: number; readonly ms: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly journal: Journal) {
    this.#timer = setInterval(() => this.#beat(), BEAT_MS).unref();
  }

  /** The longest time since then in which the loop did not turn, the one that goes on included. */
  longestGapSince(fromMs: number): number {
    this.#gaps = this.#gaps.filter(({ untilMs }) => untilMs > machineMs() - 60_000);
    const before = this.#gaps.filter(({ untilMs }) => untilMs >= fromMs).map(({ ms }) => ms);
    return Math.max(0, machineMs() - this.#lastMs - BEAT_MS, ...before);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const nowMs = machineMs();
    const ms = nowMs - this.#lastMs - BEAT_MS;
    if (ms > LONG_MS) this.journal.write({ k: 'stalled', fromMs: this.#lastMs });
    if (ms > 5) this.#gaps.push({ untilMs: nowMs, ms });
    this.#lastMs = nowMs;
  }
}
