import { InvalidLockUseError } from '../../core';
import { describeValue } from '../../core/describe-value';

/** Who changes a run by hand, and why: kept in the history of the run. */
export interface OperatorAct {
  /** A person or a ticket: 1–200 characters. */
  readonly actor: string;
  /** 1–2,000 characters. */
  readonly reason: string;
}

/** @throws InvalidLockUseError for what nobody could answer for later, and what not every database keeps */
export function checkAct({ actor, reason }: Partial<OperatorAct> = {}): void {
  checkText('actor', actor, 200);
  checkText('reason', reason, 2000);
}

function checkText(what: string, text: unknown, longest: number): void {
  if (typeof text === 'string' && text.trim() !== '' && Array.from(text).length <= longest) {
    if (!text.includes('\0') && text.isWellFormed()) return;
    throw new InvalidLockUseError(
      `${what} is ${describeValue(text)}: it contains U+0000 or half a surrogate pair, which not every database keeps. Remove it.`,
    );
  }
  throw new InvalidLockUseError(
    `${what} is ${describeValue(text)}: an operator's act says who did it and why, in 1 to ${longest} characters.`,
  );
}
