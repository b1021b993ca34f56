import type { RunTables } from './run-table';

/** What a column of the ledger is for; each dialect has a type for it. */
export type RunColumnKind =
  /** Numbers the rows. */
  | { readonly is: 'id' }
  /** Compared byte for byte. */
  | { readonly is: 'text'; readonly length: number }
  /** The same, of ASCII alone. */
  | { readonly is: 'word'; readonly length: number }
  /** Never compared: of 8 KiB at least, or of 64 KiB, a mark of a cut besides. */
  | { readonly is: 'note' | 'document' }
  | { readonly is: 'count' | 'integer' | 'instant' };

export interface RunColumn {
  readonly name: string;
  readonly kind: RunColumnKind;
  readonly nullable: boolean;
  /** What an insert that does not name it leaves there. */
  readonly default?: 0 | '' | undefined;
}

export interface RunIndex {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isUnique: boolean;
}

/** One of the ledger's tables as the library makes it. */
export interface RunTableDefinition {
  readonly path: readonly string[];
  readonly columns: readonly RunColumn[];
  readonly indexes: readonly RunIndex[];
}

/** There is one row at most for each of these. */
export const RUN_KEY = ['job_name', 'scope', 'period_key'] as const;

const KEY_LENGTH = 64;
const ID = { is: 'id' } as const;
const COUNT = { is: 'count' } as const;
const INTEGER = { is: 'integer' } as const;
const INSTANT = { is: 'instant' } as const;
const text = (length: number) => ({ is: 'text', length }) as const;
const word = (length: number) => ({ is: 'word', length }) as const;

export function definitionsOf(tables: RunTables): readonly [RunTableDefinition, RunTableDefinition] {
  return [runTable(tables), eventTable(tables)];
}

function runTable({ run, nameLength }: RunTables): RunTableDefinition {
  const table = run.at(-1);
  return {
    path: run,
    columns: [
      needed('id', ID),
      needed('job_name', text(nameLength)),
      // NULLs would not collide.
      needed('scope', text(KEY_LENGTH), ''),
      needed('period_key', text(KEY_LENGTH)),
      optional('period_start', INSTANT),
      optional('period_end', INSTANT),
      optional('time_zone', word(64)),
      needed('state', word(12)),
      needed('generation', COUNT, 0),
      needed('attempt', COUNT, 0),
      optional('next_attempt_at', INSTANT),
      optional('claimed_by', text(255)),
      optional('lock_id', text(128)),
      optional('fencing_token', INTEGER),
      optional('lease_until', INSTANT),
      optional('first_started_at', INSTANT),
      optional('started_at', INSTANT),
      optional('finished_at', INSTANT),
      optional('reason', text(32)),
      optional('result', { is: 'document' }),
      optional('error', { is: 'note' }),
      needed('created_at', INSTANT),
      needed('updated_at', INSTANT),
    ],
    indexes: [
      { name: `uq_${table}`, columns: RUN_KEY, isUnique: true },
      { name: `ix_${table}_due`, columns: ['state', 'next_attempt_at'], isUnique: false },
      { name: `ix_${table}_period`, columns: ['job_name', 'scope', 'period_start'], isUnique: false },
    ],
  };
}

/** Append only. */
function eventTable({ event }: RunTables): RunTableDefinition {
  return {
    path: event,
    columns: [
      needed('id', ID),
      needed('run_id', INTEGER),
      needed('at', INSTANT),
      needed('generation', COUNT),
      needed('attempt', COUNT),
      needed('kind', word(20)),
      needed('actor', text(255)),
      optional('fencing_token', INTEGER),
      optional('detail', { is: 'note' }),
    ],
    indexes: [{ name: `ix_${event.at(-1)}`, columns: ['run_id', 'id'], isUnique: false }],
  };
}

function needed(name: string, kind: RunColumnKind, defaultValue?: 0 | ''): RunColumn {
  return { name, kind, nullable: false, default: defaultValue };
}

function optional(name: string, kind: RunColumnKind): RunColumn {
  return { name, kind, nullable: true };
}
