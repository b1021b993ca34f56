import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import { timeText } from '#cronlatch/ledger/operator/state-of-run';
import { periodAt, type PeriodKind } from '#cronlatch/ledger/periods/period';
import { TIME_ZONE } from './sample-jobs';

/** Instants are milliseconds since 1970, as in all of the sample. */
interface SampleAttempt {
  readonly startedAt: number;
  /** `undefined`: it is running. */
  readonly finishedAt?: number;
  readonly error?: string;
  /** How often an operator had run the period again before. */
  readonly generation?: number;
  readonly instance: string;
}

export interface SampleRun {
  readonly job: string;
  readonly kind: PeriodKind;
  readonly tickAt: number;
  readonly attempts: readonly SampleAttempt[];
  readonly state: 'completed' | 'failed' | 'interrupted' | 'running';
  readonly reason?: string;
  readonly result?: object | undefined;
}

type Row = Readonly<Record<string, string | number | null | undefined>>;

/** Columns with instants. The tables keep them in microseconds, because SQLite has no type for them. */
const INSTANT = /(^|_)(at|until|start|end)$|^fencing_token$/;

/** Writes what the instances of the sample would have written. */
export class SampleRows {
  readonly #database: Database.Database;
  #ids = 0;

  constructor(file: string) {
    this.#database = new Database(file);
  }

  close(): void {
    this.#database.close();
  }

  inOneStep(write: () => void): void {
    this.#database.transaction(write)();
  }

  /** @returns the id of the row */
  insert(table: string, row: Row): number {
    const names = Object.keys(row).join(', ');
    const marks = Object.keys(row).map(() => '?');
    const text = `INSERT INTO ${table} (${names}) VALUES (${marks.join(', ')})`;
    return Number(this.#database.prepare(text).run(...valuesOf(row)).lastInsertRowid);
  }

  update(table: string, row: Row, where = 'TRUE'): void {
    const changes = Object.keys(row).map((name) => `${name} = ?`);
    this.#database.prepare(`UPDATE ${table} SET ${changes.join(', ')} WHERE ${where}`).run(...valuesOf(row));
  }

  /** Different for each attempt, and the same each time that the sample is made. */
  owner(instance: string): string {
    return `${instance}/${this.#id()}`;
  }

  #id(): string {
    this.#ids += 1;
    const digits = createHash('sha256').update(String(this.#ids)).digest('hex');
    return digits.replace(/^(.{8})(.{4})(.{3})(.{3})(.{12}).*/, '$1-$2-4$3-8$4-$5');
  }

  /** A run, with the events of its failed attempts. @returns its id */
  run({ job, kind, tickAt, attempts, state, reason, result }: SampleRun): number {
    const { key, start, end } = periodAt(new Date(tickAt), { kind, timeZone: TIME_ZONE });
    const numbered = attempts.map(({ generation = 0, ...attempt }, index) => {
      const earlier = attempts.slice(0, index).filter((each) => (each.generation ?? 0) === generation);
      const claimed_by = this.owner(attempt.instance);
      return {
        ...attempt,
        first: earlier[0] ?? attempt,
        claimed_by,
        generation,
        attempt: earlier.length + 1,
      };
    });
    const { first, startedAt, finishedAt, error, ...last } = numbered.at(-1)!;
    const { claimed_by, generation, attempt } = last;
    const id = this.insert('cronlatch_run', {
      ...{ job_name: job, scope: '', period_key: key, time_zone: TIME_ZONE, state, reason, error },
      ...{ period_start: start?.getTime(), period_end: end?.getTime(), claimed_by, generation, attempt },
      ...{ fencing_token: startedAt, lease_until: startedAt + 86_400_000 },
      ...{ first_started_at: first.startedAt, started_at: startedAt, finished_at: finishedAt },
      ...{ result: result && JSON.stringify(result) },
      ...{ created_at: attempts[0]?.startedAt, updated_at: finishedAt ?? startedAt },
    });
    for (const each of numbered) {
      if (each.error === undefined && state !== 'interrupted') continue;
      const lost = `its lease ended; the attempt had started at ${timeText(new Date(each.startedAt), TIME_ZONE)}`;
      this.insert('cronlatch_run_event', {
        ...{ run_id: id, at: each.finishedAt, generation: each.generation, attempt: each.attempt },
        ...{ kind: each.error === undefined ? 'lost' : 'failed', detail: each.error ?? lost },
        ...{ actor: each.claimed_by, fencing_token: each.startedAt },
      });
    }
    return id;
  }

  /** What an operator has done to a job. */
  act(at: number, act: Row): void {
    this.insert('cronlatch_run_act', {
      ...{ id: this.#id(), at, ...act, state: 'done', detail: '{}', taken_by: this.owner('ops-1/801') },
      ...{ due_at: at, expires_at: at, ended_at: at },
    });
  }

  /** A run again, which a later attempt has begun. */
  rerun(
    run: { readonly id: number; readonly of: SampleRun; readonly before: string },
    at: number,
    by: Row,
  ): void {
    const { actor, reason } = by;
    const { key } = periodAt(new Date(run.of.tickAt), { kind: run.of.kind, timeZone: TIME_ZONE });
    this.act(at, { ...by, verb: 'rerun', job_name: run.of.job, period_key: key });
    const event = { run_id: run.id, at, generation: 0, attempt: 1, kind: 'rerun', actor };
    this.insert('cronlatch_run_event', { ...event, detail: `${reason} (was ${run.before})` });
  }
}

function valuesOf(row: Row): (string | number | null)[] {
  return Object.entries(row).map(([name, value]) =>
    typeof value === 'number' && INSTANT.test(name) ? Math.round(value) * 1000 : (value ?? null),
  );
}
