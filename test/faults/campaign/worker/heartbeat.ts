import { machineMs } from '../../../processes/machine-time';
import type { Journal } from './journal';

const BEAT_MS = 20;
/** A shorter gap is not reported. */
const LONG_MS = 60;

/** Notices when the event loop is blocked: by a stop, a stall, or a busy machine. */
export class Heartbeat {
  #lastMs = machineMs();
  /** The latest gaps, each with its end. */
  #gaps: { readonly untilMs: number; readonly ms: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly journal: Journal) {
    this.#timer = setInterval(() => this.#beat(), BEAT_MS).unref();
  }

  /** The longest time since `fromMs` in which the loop was blocked, including the current gap. */
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
