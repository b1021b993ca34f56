import type { RunKey } from '../run';

/** What an operator can do about a problem: an act, or `why`, which only explains it. */
export interface Remedy {
  readonly verb:
    'run' | 'rerun' | 'resolve' | 'skip' | 'pause' | 'resume' | 'release' | 'forget' | 'purge' | 'why';
  /** The name of a lock, or a job with the scope and the key of the period of a run. */
  readonly subject:
    { readonly job: string; readonly scope?: string; readonly period?: string } | { readonly lock: string };
  /** By the names of the fields of the act, without its actor and its reason. A flag is `true`. */
  readonly values: Readonly<Record<string, string | true>>;
}

/** A remedy for a job, or for a run of it. */
export function remedyFor(
  verb: Remedy['verb'],
  { job, scope, periodKey: period }: Pick<RunKey, 'job'> & Partial<RunKey>,
  values: Remedy['values'] = {},
): Remedy {
  return { verb, subject: { job, ...(scope && { scope }), ...(period && { period }) }, values };
}

/** Ends the lease of this holder. */
export function releaseOf({ name, lockedBy }: { name: string; lockedBy: string }): Remedy {
  return { verb: 'release', subject: { lock: name }, values: { owner: lockedBy } };
}

/**
 * The arguments of the `cronlatch` command for a remedy. `TEXT` stands for your reason. After `--`, no operand can be taken
 * for an option.
 */
export function commandOf({ verb, subject, values }: Remedy): readonly string[] {
  const { job, period, scope } = 'lock' in subject ? { job: subject.lock } : subject;
  // A lock is an operand, unless the act also takes a job.
  const operands = 'lock' in values ? [] : period === undefined ? [job] : [job, period];
  const fields: Remedy['values'] = { ...(scope && { scope }), ...values };
  const options = Object.entries(fields).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, value],
  );
  if (verb !== 'why') options.push('--reason', 'TEXT');
  const isPlain = operands.every((operand) => !operand.startsWith('-'));
  return isPlain ? [verb, ...operands, ...options] : [verb, ...options, '--', ...operands];
}

/** The command in one line, to be pasted into a shell. */
export function commandText(remedy: Remedy): string {
  return ['cronlatch', ...commandOf(remedy).map(quoted)].join(' ');
}

/** For a shell, if the text has characters with a meaning there. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
