/** The part of cron's `CronTime` that tells when a job is due. */
export interface CronInstants {
  /** The first instant of the schedule after `from`, which counts in whole seconds. */
  getNextDateFrom(from: Date, timeZone: string): { toMillis(): number };
}

const SECOND_MS = 1000;
/** `cron` looks no further into the future than eight years; nor do we into the past. */
const LONGEST_LOOK_BACK_MS = 8 * 366 * 86_400_000;

/**
 * The latest instant of a schedule that is not after `nowMs`: the one that a tick was meant for, however late it is.
 * Nothing is kept from tick to tick, so that a clock that was set, a job that stood still or a schedule that was changed
 * leaves nothing wrong behind.
 *
 * @returns `undefined` when there was none
 */
export function lastInstant(cronTime: CronInstants, timeZone: string, nowMs: number): Date | undefined {
  const nextMs = (fromMs: number): number => cronTime.getNextDateFrom(new Date(fromMs), timeZone).toMillis();
  // `early` has an instant between itself and now, `late` has none. A tick is rarely late by a second.
  let late = nowMs;
  let early = nowMs - SECOND_MS;
  while (nextMs(early) > nowMs) {
    late = early;
    early = nowMs - 2 * (nowMs - early);
    if (nowMs - early > LONGEST_LOOK_BACK_MS) return undefined;
  }
  while (late - early > SECOND_MS) {
    const middle = early + Math.floor((late - early) / 2);
    if (nextMs(middle) > nowMs) late = middle;
    else early = middle;
  }
  return new Date(nextMs(early));
}
