export type StatementKind =
  'insert' | 'take-over' | 'extend' | 'unlock' | 'claim' | 'complete' | 'commit' | 'other';

/**
 * The parts by which a statement is recognised: its text, and for a run also its values and its transaction.
 */
export type TextKind =
  | 'insert'
  | 'take-over'
  | 'extend'
  | 'unlock'
  | 'release-row'
  | 'insert-run'
  | 'write-run'
  | 'complete-run'
  | 'begin'
  | 'commit'
  | 'roll-back'
  | 'other';

/** The first match counts. Columns have their default names. */
const PATTERNS: readonly (readonly [TextKind, RegExp])[] = [
  ['insert', /^INSERT INTO \S+ \(name, lock/],
  ['unlock', /^UPDATE \S+ SET lock_until = .* locked_by = .*'\/released'/],
  ['release-row', /^UPDATE \S+ SET lock_until = GREATEST\(.* AND fencing_token < /],
  ['extend', /^UPDATE \S+ SET lock_until = GREATEST\(/],
  ['take-over', /^(WITH taken AS \( )?UPDATE \S+ SET lock_until = .* AND \(?lock_until <= /],
  ['insert-run', /^INSERT INTO \S+ \(job_name, /],
  ['complete-run', /^UPDATE .*\bSET state = 'completed', /],
  ['write-run', /^UPDATE \S+ SET state = /],
  ['begin', /^(START TRANSACTION|BEGIN)\b/],
  ['commit', /^COMMIT\b/],
  ['roll-back', /^ROLLBACK\b/],
];

/** Recognises which of the library's statements a text is, in any dialect. */
export function textKindOf(text: string): TextKind {
  const plain = text
    .replace(/\/\*.*?\*\//g, '')
    .replace(/[`"]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return PATTERNS.find(([, pattern]) => pattern.test(plain))?.[0] ?? 'other';
}
