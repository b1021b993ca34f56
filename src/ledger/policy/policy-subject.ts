import { refuseOption } from '../../core/options';

export interface PolicySubject {
  /** Names the job in errors, for example `of job 'close-day'`. */
  readonly of: string;
  /** Whether the job has a key function. Its periods have no start, no end and no order. */
  readonly customKeys: boolean;
}

export function checkCount(value: number, most: number, what: string): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  return refuseOption(what, value, `it must be a whole number from 1 to ${most}`);
}
