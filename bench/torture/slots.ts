import type { Row } from './rows';

/** The times at which a row's job is due on one side: every so many seconds, from a phase on. */
export class Schedule {
  readonly expression: string;

  /**
   * @param phaseS less than `everyS`; the sides have different phases, so that they do not fire at the same
   * time
   */
  constructor(
    private readonly everyS: number,
    private readonly phaseS: number,
  ) {
    this.expression = `${phaseS}-59/${everyS} * * * * *`;
  }

  /** The last time that is not after this one. */
  slotAt(ms: number): number {
    const everyMs = this.everyS * 1000;
    const phaseMs = this.phaseS * 1000;
    return Math.floor((ms - phaseMs) / everyMs) * everyMs + phaseMs;
  }

  /** So many times, from the first one after `leadMs`. */
  slotsFrom(nowMs: number, leadMs: number, fires: number): number[] {
    const firstMs = this.slotAt(nowMs + leadMs) + this.everyS * 1000;
    return Array.from({ length: fires }, (_, index) => firstMs + index * this.everyS * 1000);
  }
}

export type SideName = 'node-cron+redis' | 'cronlatch';

export const SIDES: readonly SideName[] = ['cronlatch', 'node-cron+redis'];

export function scheduleOf({ everyS }: Pick<Row, 'everyS'>, side: SideName): Schedule {
  return new Schedule(everyS, side === 'cronlatch' ? Math.floor(everyS / 2) : 0);
}
