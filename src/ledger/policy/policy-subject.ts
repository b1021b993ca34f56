import { refuseOption } from '../../core/options';

export interface PolicySubject {
  /** Names the job in errors, for example `of job 'close-day'`. */
  readonly of: string;
  /** Of periods that no calendar has: what they are, for errors. They have no end, so none is known to be missed. */
  readonly endless: 'a tick' | 'the period of a key function' | undefined;
}

export function checkCount(value: number, most: number, what: string): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  return refuseOption(what, value, `it must be a whole number from 1 to ${most}`);
}
