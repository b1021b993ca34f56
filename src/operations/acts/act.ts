import { InvalidLockConfigurationError } from '../../core';
import { describeValue } from '../../core/options';
import type { JobGuard } from '../../guard';
import { callsOf, type GuardParts } from '../../guard/calls/calls';
import type { NewAct, StoredAct } from '../../ledger';
import { checkAct, type OperatorAct } from '../../ledger/operator/decide-act';
import { JobCatalog } from '../job-catalog';
import { timeAt, type WhenOfJob } from '../overview';

export type Verb = 'run' | 'rerun' | 'resolve' | 'skip' | 'pause' | 'resume' | 'release' | 'forget' | 'purge';

/** What an act is about, and its fields, by their names: `job`, `scope`, `period` and `lock`, and those of the act. */
export type Values = Readonly<Record<string, string | true | undefined>>;

/** An option of a command, and a field of a form. */
export interface Field {
  readonly name: string;
  readonly kind: 'text' | 'date' | 'choice' | 'flag';
  /** For the help of the command. */
  readonly description: string;
  /** Stands for the value there. */
  readonly value?: string;
  /** In a form. Without it, only the command has the field. */
  readonly label?: string;
  readonly hint?: string;
  readonly required?: boolean;
  readonly default?: string;
  readonly choices?: readonly string[];
}

/** What an operator can do. Its command, its form and its method are made from this. */
export interface Act {
  readonly verb: Verb;
  /** An act on a lock is done, although it cannot be recorded. */
  readonly of: 'run' | 'job' | 'lock' | 'store';
  /** The operands of the command: names of values. */
  readonly operands: string;
  /** What the help of the command shows. */
  readonly summary: string;
  /** On the button of its form. */
  readonly label: string;
  /** It can do harm if the operator is wrong. Its button looks so, and comes last. */
  readonly isDestructive?: true;
  /** What follows, in sentences. A form shows it. */
  readonly effect: string;
  /** What has happened, when it is done. */
  readonly done: string;
  readonly fields: readonly Field[];
  /** The page that shows what it has changed. Default: that of what it is about */
  readonly page?: 'job' | 'overview';
  /** Of a guard that is created for the act alone. */
  readonly guardOptions?: (values: Values) => { readonly keepRows?: boolean };
  /**
   * Reads what the act needs to know, and writes nothing.
   *
   * @throws InvalidLockUseError if the act is not possible: a ConflictError, if it was possible in another state
   */
  plan(desk: Desk, values: Values): Promise<Plan>;
}

export interface Plan {
  /** What the act does. */
  readonly lines: readonly string[];
  /** What the operator must have seen: a second answer. */
  readonly confirm?: Confirmation | undefined;
  /** Why there is nothing to do: then `perform` writes nothing. */
  readonly nothing?: string | undefined;
  /** What it is about, for the record, with the state before it. `undefined`: it records itself. */
  readonly about?: ActSubject | undefined;
  /** @throws ConflictError if the state has changed since the plan */
  perform(): Promise<Omit<ActResult, 'text' | 'act'> & Partial<Pick<ActResult, 'text' | 'act'>>>;
}

export interface ActSubject extends Pick<NewAct, 'job' | 'scope' | 'periodKey' | 'lock'> {
  readonly before?: object | undefined;
}

export interface Confirmation {
  readonly text: string;
  readonly items?: readonly string[] | undefined;
  /** What a form must send as `confirmed`. It changes with what the operator has seen. */
  readonly value: string;
}

export interface ActResult {
  /** What has happened, for people. */
  readonly text: string;
  /** The id of its record, which `operations(guard).acts()` lists. `undefined`: it was done, but not recorded. */
  readonly act: string | undefined;
  /** For machines. */
  readonly facts: object;
  /** The request to run a job, if the act has waited for its end. */
  readonly ended?: StoredAct;
}

/** Where an operator acts: at a guard, with a reason. */
export class Desk {
  readonly parts: GuardParts;
  /** By this host's clock. */
  readonly begunAtMs: number;
  /** Puts the instants of all texts into words that follow a verb. */
  readonly when: WhenOfJob;
  /** Gets a line when an act begins to wait. Without it, an act that would wait is refused, or returns before. */
  readonly note: ((text: string) => void) | undefined;
  #jobs: Promise<JobCatalog> | undefined;

  /** @throws InvalidLockUseError if the actor or the reason is missing, too long, or cannot be stored */
  constructor(
    readonly guard: JobGuard,
    readonly by: OperatorAct,
    { when = timeAt, note }: Partial<Pick<Desk, 'when' | 'note'>> = {},
  ) {
    checkAct(by);
    this.parts = callsOf(guard).parts;
    this.begunAtMs = this.parts.clock.wallMs();
    this.when = when;
    this.note = note;
  }

  /** @throws InvalidLockConfigurationError if the guard keeps no runs */
  async jobs(): Promise<JobCatalog> {
    return await (this.#jobs ??= JobCatalog.of(this.guard));
  }
}

/** Of a field that the act requires, or of an operand. */
export function textOf(values: Values, name: string): string {
  const value = values[name];
  if (typeof value === 'string') return value;
  throw new InvalidLockConfigurationError(
    value === undefined ? `${name} is missing.` : `${name} is ${describeValue(value)}: pass a text.`,
  );
}

export function optionalText(values: Values, name: string): string | undefined {
  return values[name] === undefined ? undefined : textOf(values, name);
}

/** @param description for the help of the command */
export function field(
  name: string,
  kind: Field['kind'],
  description: string,
  more: Omit<Field, 'name' | 'kind' | 'description'> = {},
): Field {
  return { name, kind, description, ...more };
}

export const SCOPE = field('scope', 'text', 'the scope of the run, if the job has scopes', {
  value: 'scope',
  label: 'Scope',
});
