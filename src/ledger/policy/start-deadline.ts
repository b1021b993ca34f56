import { parsePositiveDuration, type Duration } from '../../core/duration';
import { refusePolicy, type PolicySubject } from './policy-subject';

/** @returns milliseconds. No first attempt begins later than that after the start of its period. */
export function parseStartDeadline(
  startDeadline: Duration | undefined,
  { of, customKeys }: PolicySubject,
): number | undefined {
  if (startDeadline === undefined) return undefined;
  if (customKeys)
    refusePolicy(`startDeadline ${of}`, startDeadline, 'the period of a key function has no start');
  return parsePositiveDuration(startDeadline, `startDeadline ${of}`);
}

/** Whether a first attempt would begin too late. */
export function startDeadlinePassed(
  startDeadlineMs: number | undefined,
  { now, periodStart }: { readonly now: Date; readonly periodStart: Date | undefined },
): boolean {
  if (startDeadlineMs === undefined || periodStart === undefined) return false;
  return now.getTime() - periodStart.getTime() > startDeadlineMs;
}
