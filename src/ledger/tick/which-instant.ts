import type { Clock } from '../../core';

export interface InstantQuestion {
  /** Of a tick, by the scheduler: the host's clock meant it. */
  readonly scheduledAt: Date | undefined;
  /** The database's. */
  readonly now: Date;
  /** The host's wall clock less the database's. */
  readonly skewMs: number;
  readonly maxSkewMs: number;
}

/** A moment by the two clocks of this host. The wall clock may have been wrong then. */
export interface HostTime {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export function hostTime(clock: Pick<Clock, 'wallMs' | 'monotonicMs'>): HostTime {
  return { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
}

/**
 * By how much the host's wall clock was ahead of the database's when a tick was heard, which nobody could compare then.
 * A wall clock that fell behind the monotonic one meanwhile was set back. One that ran ahead of it is trusted: a
 * suspended machine looks the same, and its ticks must not move to the next period.
 *
 * @param nowSkewMs by how much it is ahead now
 */
export function skewWhenHeard(heard: HostTime, now: HostTime, nowSkewMs: number): number {
  const setForwardMs = now.wallMs - heard.wallMs - (now.monotonicMs - heard.monotonicMs);
  return nowSkewMs - Math.min(0, setForwardMs);
}

/**
 * Which instant decides the period of a tick. Late is not skewed: however late a tick comes, its scheduled instant
 * counts, unless the clock that scheduled it was wrong.
 */
export function whichInstant({ scheduledAt, now, skewMs, maxSkewMs }: InstantQuestion): {
  readonly instant: Date;
  readonly warning?: string;
} {
  if (scheduledAt === undefined) return { instant: now };
  if (Math.abs(skewMs) <= maxSkewMs) return { instant: scheduledAt };
  const instant = new Date(scheduledAt.getTime() - skewMs);
  return {
    instant,
    warning: `The clock of this host is ${describeSkew(skewMs)} the database's, so a tick scheduled at ${scheduledAt.toISOString()} counts as one at ${instant.toISOString()}. Is the host's time synchronized?`,
  };
}

function describeSkew(skewMs: number): string {
  return `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'}`;
}

const NEAR_MS = 5000;

/** Where only the database's clock tells the period, a tick that comes a little early counts for the one before. */
export function isJustBefore(now: Date, end: Date | undefined): boolean {
  return end !== undefined && end.getTime() - now.getTime() <= NEAR_MS;
}
